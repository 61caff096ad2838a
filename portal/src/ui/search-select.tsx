/** Fields that choose a row of a list, which typing narrows down. */
import { CheckIcon, Combobox, Group, ScrollArea, TextInput, type TextInputProps, useCombobox } from '@mantine/core'
import { type FocusEvent, type KeyboardEvent, type RefObject, useEffect, useId, useRef, useState } from 'react'
import { usePreferences, useTexts } from '../i18n/preferences.tsx'
import { listedTimeZone, timeZones } from '../i18n/time-zone.ts'
import { uiTexts } from './texts.ts'

type Choice = { value: string; label: string }

type Input = Omit<TextInputProps, 'value' | 'defaultValue' | 'onChange'> & { onChange: (value: string) => void }

type Field = Input & {
  choices: readonly Choice[]
  /** If there is no such choice, the field is empty. */
  value: string | null
  /** How many rows are shown at most. */
  limit?: number
  /** The value of the choice that has also this name; called if no label fits. */
  byOtherName?: (name: string) => string | null
}

/**
 * A field that chooses one of many. Enter and leaving the field choose the highlighted row, which is the first one
 * until the arrow keys are used, if a text was typed that fits. In all other cases leaving the field shows its value
 * again. A text that fits nothing becomes an error at the field, and while this error is shown the form is not sent.
 * It is shown until the person types in the field or leaves it once more.
 *
 * Mantine's `Select` with `autoSelectOnBlur` would also choose rows when nothing was typed.
 */
export function SearchSelect(props: Field) {
  const { choices, value, limit, byOtherName, onChange, onBlur, ...input } = props
  const texts = useTexts(uiTexts).choice
  const id = useId()
  const field = useRef<HTMLInputElement>(null)
  const search = useSearch(props)
  const { combobox, rows, refused } = search
  useRefusal(field, refused !== null)
  return (
    <Combobox store={combobox} onOptionSubmit={search.choose}>
      <Combobox.Target withExpandedAttribute>
        <TextInput
          {...input}
          ref={field}
          id={id}
          value={search.text}
          error={refused === null ? input.error : texts.refused(refused)}
          errorProps={refused === null ? {} : { role: 'alert' }}
          rightSection={<Combobox.Chevron error={refused ?? input.error} />}
          rightSectionPointerEvents="none"
          onChange={({ currentTarget }) => search.type(currentTarget.value)}
          onClick={search.open}
          onKeyDown={search.onKeyDown}
          onBlur={event => {
            search.leave(event)
            onBlur?.(event)
          }}
        />
      </Combobox.Target>
      <Combobox.Dropdown>
        <Combobox.Options labelledBy={`${id}-label`}>
          <ScrollArea.Autosize mah={220} type="scroll" scrollbarSize="var(--combobox-padding)" offsetScrollbars="y">
            {rows.map(row => (
              <Row key={row.value} row={row} isChosen={row.value === value} />
            ))}
          </ScrollArea.Autosize>
          {rows.length === 0 && (
            // A list without options is not accessible.
            <Combobox.Empty role="option" aria-disabled>
              {texts.nothing}
            </Combobox.Empty>
          )}
        </Combobox.Options>
      </Combobox.Dropdown>
    </Combobox>
  )
}

/** What is typed, the rows that fit it, and what the keys and leaving the field do with them. */
function useSearch({ choices, value, limit, byOtherName, onChange }: Field) {
  const combobox = useCombobox()
  const { dropdownOpened: isOpen, selectFirstOption } = combobox
  const label = choices.find(choice => choice.value === value)?.label ?? ''
  // What was typed since the last choice; null: the field shows its value.
  const [typed, setTyped] = useState<string | null>(null)
  const [refused, setRefused] = useState<string | null>(null)
  const isTyped = typed !== null && typed.trim() !== ''
  const rows = (isTyped ? fitting(choices, typed, byOtherName) : choices).slice(0, limit)

  // biome-ignore lint/correctness/useExhaustiveDependencies: every text and every opening begins with the first row
  useEffect(() => {
    if (isTyped) selectFirstOption()
  }, [typed, isOpen, isTyped, selectFirstOption])

  const showValue = () => {
    setTyped(null)
    combobox.resetSelectedOption()
    combobox.closeDropdown()
  }
  const choose = (chosen: string) => {
    if (chosen !== value) onChange(chosen)
    setRefused(null)
    showValue()
  }
  const chooseTyped = () => {
    const row = isTyped ? (rows[combobox.getSelectedOptionIndex()] ?? rows[0]) : undefined
    if (row) choose(row.value)
    else setRefused(isTyped ? typed : null)
    return row !== undefined || !isTyped
  }
  return {
    combobox,
    rows,
    refused,
    text: typed ?? label,
    choose,
    type(text: string) {
      setTyped(text === label ? null : text)
      setRefused(null)
      combobox.resetSelectedOption()
      combobox.openDropdown()
    },
    open() {
      if (isOpen) return
      combobox.openDropdown()
      if (!isTyped) combobox.updateSelectedOptionIndex('active', { scrollIntoView: true })
    },
    onKeyDown(event: KeyboardEvent) {
      // In an open list Mantine itself chooses the highlighted row.
      if (event.key !== 'Enter' || (isOpen && combobox.getSelectedOptionIndex() !== -1)) return
      if (typed !== null) event.preventDefault()
      if (chooseTyped()) showValue()
    },
    leave({ currentTarget }: FocusEvent) {
      // The field keeps the focus when the person looks at another window.
      if (document.activeElement === currentTarget) return
      chooseTyped()
      showValue()
    },
  }
}

/** While this holds, sends no form and moves the focus to the field instead. Forms check only values, not typed texts. */
function useRefusal(field: RefObject<HTMLInputElement | null>, isRefused: boolean): void {
  useEffect(() => {
    const form = field.current?.form
    if (!isRefused || !form) return
    const refuse = (event: Event) => {
      event.preventDefault()
      event.stopPropagation()
      field.current?.focus()
    }
    form.addEventListener('submit', refuse, { capture: true })
    return () => form.removeEventListener('submit', refuse, { capture: true })
  }, [field, isRefused])
}

const folded = (text: string): string =>
  text
    .trim()
    .toLowerCase()
    .replace(/[\s_]+/g, ' ')

/** The choices whose label contains the text, where a space and `_` are the same, or else the one that has this other name. */
function fitting(choices: readonly Choice[], text: string, byOtherName: Field['byOtherName']): readonly Choice[] {
  const part = folded(text)
  const found = choices.filter(({ label }) => folded(label).includes(part))
  if (found.length > 0 || !byOtherName) return found
  const other = byOtherName(text.trim())
  return choices.filter(({ value }) => value === other)
}

function Row({ row, isChosen }: { row: Choice; isChosen: boolean }) {
  return (
    <Combobox.Option value={row.value} active={isChosen} aria-selected={isChosen}>
      <Group gap="xs" wrap="nowrap">
        {isChosen && <CheckIcon size={10} opacity={0.4} />}
        {row.label}
      </Group>
    </Combobox.Option>
  )
}

/** Chooses a time zone. The person's own and the present one come first. */
export function TimeZoneSelect({ value, ...input }: Input & { value: string }) {
  const { timeZone } = usePreferences()
  const choices = [...new Set([timeZone, value, ...timeZones()])].map(zone => ({ value: zone, label: zone }))
  return <SearchSelect {...input} value={value} choices={choices} limit={60} byOtherName={listedTimeZone} />
}
