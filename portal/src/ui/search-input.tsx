import { CloseButton, TextInput } from '@mantine/core'
import { useDebouncedCallback } from '@mantine/hooks'
import { IconSearch } from '@tabler/icons-react'
import { useEffect, useRef, useState } from 'react'
import { useTexts } from '../i18n/preferences.tsx'
import { uiTexts } from './texts.ts'

/**
 * A search field; it reports the text a moment after the last key.
 *
 * @param props.value the text from the address. When the address changes in another way, the field shows the new text
 */
export function SearchInput(props: {
  label: string
  value: string | undefined
  onChange: (words: string | undefined) => void
  /** Why this text cannot be searched for. */
  error?: string | null
  /** The maximum number of characters; default: 100. */
  maxLength?: number
}) {
  const { label, value = '', onChange, error = null, maxLength = 100 } = props
  const texts = useTexts(uiTexts)
  const [typed, setTyped] = useState(value)
  const input = useRef<HTMLInputElement>(null)
  // The texts that were reported but are not in the address yet. The person may type more before the address changes.
  const underWay = useRef<string[]>([])
  const tell = useDebouncedCallback(
    (words: string) => {
      const trimmed = words.trim()
      if (trimmed !== (underWay.current.at(-1) ?? value)) underWay.current.push(trimmed)
      onChange(trimmed || undefined)
    },
    { delay: 300, flushOnUnmount: false },
  )
  // Follows the address when something else has changed it: the browser's history, or cleared filters.
  useEffect(() => {
    const arrived = underWay.current.lastIndexOf(value)
    if (arrived >= 0) underWay.current.splice(0, arrived + 1)
    else {
      underWay.current = []
      tell.cancel()
      setTyped(value)
    }
  }, [value, tell])

  const set = (words: string) => {
    setTyped(words)
    tell(words)
  }
  const clear = () => {
    set('')
    input.current?.focus()
  }
  return (
    <TextInput
      type="search"
      aria-label={label}
      placeholder={label}
      leftSection={<IconSearch size={16} aria-hidden />}
      ref={input}
      rightSection={typed && <CloseButton size="sm" aria-label={texts.filters.clearSearch} onClick={clear} />}
      value={typed}
      onChange={({ currentTarget }) => set(currentTarget.value)}
      maxLength={maxLength}
      error={error}
      errorProps={{ role: 'alert' }}
    />
  )
}
