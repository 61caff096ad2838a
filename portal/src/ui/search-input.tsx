import { CloseButton, TextInput } from '@mantine/core'
import { useDebouncedCallback } from '@mantine/hooks'
import { IconSearch } from '@tabler/icons-react'
import { useEffect, useState } from 'react'
import { useTexts } from '../i18n/preferences.tsx'
import { uiTexts } from './texts.ts'

/**
 * A search field; it reports the text a moment after the last key.
 *
 * @param props.value from the address; when it changes in another way, the field follows
 */
export function SearchInput(props: {
  label: string
  value: string | undefined
  onChange: (words: string | undefined) => void
  /** Why this text cannot be searched for. */
  error?: string | null
  /** The maximum length. */
  maxLength?: number
}) {
  const { label, value = '', onChange, error = null, maxLength = 100 } = props
  const texts = useTexts(uiTexts)
  const [typed, setTyped] = useState(value)
  const [reported, setReported] = useState(value)
  const tell = useDebouncedCallback(
    (words: string) => {
      const trimmed = words.trim()
      setReported(trimmed)
      onChange(trimmed || undefined)
    },
    { delay: 300, flushOnUnmount: false },
  )
  // Follows the address, which the browser's history or cleared filters may have changed.
  useEffect(() => {
    if (value !== reported) {
      setTyped(value)
      setReported(value)
    }
  }, [value, reported])

  const set = (words: string) => {
    setTyped(words)
    tell(words)
  }
  return (
    <TextInput
      type="search"
      aria-label={label}
      placeholder={label}
      leftSection={<IconSearch size={16} aria-hidden />}
      rightSection={typed && <CloseButton size="sm" aria-label={texts.filters.clearSearch} onClick={() => set('')} />}
      value={typed}
      onChange={({ currentTarget }) => set(currentTarget.value)}
      maxLength={maxLength}
      error={error}
    />
  )
}
