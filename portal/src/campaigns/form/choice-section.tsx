import { Checkbox, Stack, Text, TextInput } from '@mantine/core'
import { type ReactNode, useId, useState } from 'react'
import { useFormat, useTexts } from '../../i18n/preferences.tsx'
import type { FormPart } from './fields.ts'
import { FormSection } from './form-section.tsx'
import { formTexts } from './form-texts.ts'

type Choice = { id: string; name: string }
type ChoiceField = 'participantsIds' | 'paymentSystemsId'

/**
 * A list with more items shows only some checkboxes, and a search field. With a thousand checkboxes, every key press in
 * the form would take seconds.
 */
const maxShown = 50

/**
 * Chooses some items of a list: the banks to invite, or the payment systems that take part. A long list has a search
 * field and shows only some items. Hidden items keep their state, chosen or not.
 *
 * @param props.label says what is chosen; it is marked as required
 * @param props.stored the items of the campaign before the person's changes
 * @param props.isGrowing whether the stored items cannot be removed any more
 */
export function ChoiceSection(
  props: FormPart & {
    name: ChoiceField
    title: string
    label: string
    choices: readonly Choice[]
    stored: readonly string[]
    hint?: string
    empty?: string
    isGrowing?: boolean
  },
) {
  const { form, isOpen, name, title, label: question, choices, stored, hint, empty, isGrowing = false } = props
  const section = name === 'participantsIds' ? 'banks' : 'paymentSystems'
  const [words, setWords] = useState('')
  const { shown, isFound, touch } = useShown({ choices, stored, chosen: form.values[name], words })
  const errorId = useId()
  const isLong = choices.length > maxShown
  const fixed = new Set(isGrowing ? stored : [])
  const first = shown.find(({ id }) => !fixed.has(id))
  // `data-path` marks the element that gets the focus after an error. The group does not get this attribute, because a
  // group cannot take the focus.
  const { value, onChange, error } = form.getInputProps(name)
  const ofFirst = {
    'data-path': name,
    ...(error && { 'aria-invalid': true, 'aria-describedby': errorId }),
  }
  return (
    <FormSection name={section} title={title} isOpen={isOpen} fields={[name]}>
      {choices.length === 0 && empty && <Text c="dimmed">{empty}</Text>}
      <Checkbox.Group
        label={question}
        description={hint}
        withAsterisk
        // The error is near the element with the focus: above the boxes of a short list, and at the search of a long one.
        inputWrapperOrder={['label', 'description', 'error', 'input']}
        errorProps={{ id: errorId }}
        error={!isLong && error}
        onChange={values => {
          touch(values)
          onChange(values)
        }}
        value={value}
      >
        {isLong && (
          <Search
            path={name}
            words={words}
            onWords={setWords}
            told={<Told choices={choices} shown={shown} chosen={form.values[name]} isFound={isFound} />}
            error={error}
          />
        )}
        <Stack gap="xs" mt="xs">
          {shown.map(({ id, name: label }) => (
            <Checkbox
              key={id}
              value={id}
              label={label}
              disabled={fixed.has(id)}
              {...(!isLong && id === first?.id && ofFirst)}
            />
          ))}
        </Stack>
      </Checkbox.Group>
    </FormSection>
  )
}

/**
 * Selects the shown items of a list: all items that the person has clicked, and up to 50 items that contain the
 * searched words. If more than 50 items contain them, items with an unsaved change come first, then items that were
 * chosen when the form opened.
 *
 * @returns `touch`: call this with each new choice
 */
function useShown(input: {
  choices: readonly Choice[]
  stored: readonly string[]
  chosen: readonly string[]
  words: string
}) {
  const { choices, chosen, words } = input
  // The items that were chosen when the form opened. Clicks do not change them, so the checkboxes keep their places.
  const [chosenAtFirst] = useState(chosen)
  // A checkbox that the person has cleared stays visible: it has the focus, and the click may have been a mistake.
  const [touched, setTouched] = useState<readonly string[]>([])
  const stored = new Set(input.stored)
  const before = new Set(chosenAtFirst)
  const searched = words.trim().toLowerCase()
  const found = choices.filter(choice => choice.name.toLowerCase().includes(searched)).map(({ id }) => id)
  const ranked = new Set([
    ...found.filter(id => stored.has(id) !== before.has(id)),
    ...found.filter(id => before.has(id)),
    ...found,
  ])
  const shownIds = new Set([...[...ranked].slice(0, maxShown), ...touched])
  const touch = (now: readonly string[]) => setTouched([...touched, ...without(now, chosen), ...without(chosen, now)])
  return { shown: choices.filter(({ id }) => shownIds.has(id)), isFound: found.length > 0, touch }
}

function without(ids: readonly string[], others: readonly string[]): string[] {
  const left = new Set(others)
  return ids.filter(id => !left.has(id))
}

/** The search field of a long list. It also shows the error of the choice, because all checkboxes may be hidden. */
function Search(props: {
  path: ChoiceField
  words: string
  onWords: (words: string) => void
  told: ReactNode
  error: ReactNode
}) {
  const { path, words, onWords, told, error } = props
  const texts = useTexts(formTexts)
  return (
    <TextInput
      type="search"
      mt="xs"
      data-path={path}
      label={texts.searchChoices}
      description={told}
      descriptionProps={{ role: 'status' }}
      error={error}
      value={words}
      onChange={({ currentTarget }) => onWords(currentTarget.value)}
      onKeyDown={event => {
        // Enter would send the form.
        if (event.key === 'Enter') event.preventDefault()
      }}
    />
  )
}

/** Says how many items of a long list are shown, and how many chosen items are hidden. */
function Told(props: {
  choices: readonly Choice[]
  shown: readonly Choice[]
  chosen: readonly string[]
  isFound: boolean
}) {
  const { choices, shown, isFound } = props
  const texts = useTexts(formTexts)
  const format = useFormat()
  const chosen = new Set(props.chosen)
  const count = (items: readonly Choice[]) => items.filter(({ id }) => chosen.has(id)).length
  const hidden = count(choices) - count(shown)
  return [
    !isFound && texts.noChoices,
    texts.choicesShown(format.number(shown.length), format.number(choices.length)),
    hidden > 0 && texts.moreChosen(hidden),
  ]
    .filter(Boolean)
    .join(' ')
}
