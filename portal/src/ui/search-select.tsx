/** Fields that choose a row of a list, which typing narrows down. */
import { CheckIcon, Combobox, Group, ScrollArea, TextInput, type TextInputProps, useCombobox } from '@mantine/core'
import { type FocusEvent, type KeyboardEvent, useEffect, useId, useState } from 'react'
import { usePreferences } from '../i18n/preferences.tsx'
import { timeZones } from '../i18n/time-zone.ts'

type Choice = { value: string; label: string }

type Field = Omit<TextInputProps, 'value' | 'defaultValue' | 'onChange'> & { onChange: (value: string) => void }

/**
 * A field that chooses one of many. Enter and leaving the field choose the highlighted row, at first the first one, if a
 * text was typed that fits. In all other cases leaving the field shows its value again. Mantine's `Select` with
 * `autoSelectOnBlur` would also choose a row that the arrow keys passed, or that an emptied field highlights.
 *
 * @param props.value null or the value of no choice: the field is empty
 * @param props.limit how many rows are shown at most
 */
export function SearchSelect(
  props: Field & { choices: readonly Choice[]; value: string | null; limit?: number | undefined },
) {
  const { choices, value, limit = 60, onChange, onBlur, ...input } = props
  const id = useId()
  const combobox = useCombobox()
  const { dropdownOpened: isOpen, selectFirstOption } = combobox
  const label = choices.find(choice => choice.value === value)?.label ?? ''
  // What was typed since the last choice; null: the field shows its value.
  const [text, setText] = useState<string | null>(null)
  const isTyped = text !== null && text.trim() !== ''
  const rows = (isTyped ? choices.filter(choice => fits(choice, text)) : choices).slice(0, limit)

  // biome-ignore lint/correctness/useExhaustiveDependencies: every text and every opening begins with the first row
  useEffect(() => {
    if (isTyped) selectFirstOption()
  }, [text, isOpen, isTyped, selectFirstOption])

  const showValue = () => {
    setText(null)
    combobox.resetSelectedOption()
    combobox.closeDropdown()
  }
  const choose = (chosen: string) => {
    if (chosen !== value) onChange(chosen)
    showValue()
  }
  const chooseTyped = () => {
    const row = rows[combobox.getSelectedOptionIndex()] ?? rows[0]
    if (isTyped && row) choose(row.value)
    else showValue()
  }
  const open = () => {
    if (isOpen) return
    combobox.openDropdown()
    if (!isTyped) combobox.updateSelectedOptionIndex('active', { scrollIntoView: true })
  }
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.key !== 'Enter' || text === null) return
    // In an open list Mantine itself chooses the highlighted row.
    if (isOpen && combobox.getSelectedOptionIndex() !== -1) return
    event.preventDefault()
    chooseTyped()
  }
  const leave = (event: FocusEvent<HTMLInputElement>) => {
    // The field keeps the focus when the person looks at another window.
    if (document.activeElement === event.currentTarget) return
    chooseTyped()
    onBlur?.(event)
  }
  return (
    <Combobox store={combobox} onOptionSubmit={choose}>
      <Combobox.Target withExpandedAttribute>
        <TextInput
          {...input}
          id={id}
          value={text ?? label}
          rightSection={<Combobox.Chevron error={input.error} />}
          rightSectionPointerEvents="none"
          onChange={({ currentTarget }) => {
            setText(currentTarget.value === label ? null : currentTarget.value)
            combobox.resetSelectedOption()
            combobox.openDropdown()
          }}
          onClick={open}
          onKeyDown={onKeyDown}
          onBlur={leave}
        />
      </Combobox.Target>
      <Combobox.Dropdown hidden={rows.length === 0}>
        <Combobox.Options labelledBy={`${id}-label`}>
          <ScrollArea.Autosize mah={220} type="scroll" scrollbarSize="var(--combobox-padding)" offsetScrollbars="y">
            {rows.map(row => (
              <Row key={row.value} row={row} isChosen={row.value === value} />
            ))}
          </ScrollArea.Autosize>
        </Combobox.Options>
      </Combobox.Dropdown>
    </Combobox>
  )
}

const fits = ({ label }: Choice, text: string): boolean => label.toLowerCase().includes(text.trim().toLowerCase())

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
export function TimeZoneSelect({ value, ...field }: Field & { value: string }) {
  const { timeZone } = usePreferences()
  const zones = [...new Set([timeZone, value, ...timeZones()])]
  return <SearchSelect {...field} value={value} choices={zones.map(zone => ({ value: zone, label: zone }))} />
}
