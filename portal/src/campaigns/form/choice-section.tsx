import { Checkbox, Stack, Text, TextInput } from '@mantine/core'
import { useState } from 'react'
import { useTexts } from '../../i18n/preferences.tsx'
import type { FormPart } from './fields.ts'
import { FormSection } from './form-section.tsx'
import { formTexts } from './form-texts.ts'

type Choice = { id: string; name: string }

/** A longer list has a search. With a thousand boxes every key in the form would take seconds. */
const maxShown = 50

/**
 * Chooses some items of a list: the banks to invite, or the payment systems that take part. Of a long list it shows the chosen
 * items and the first ones that contain the searched words.
 *
 * @param props.label says what is chosen; it is marked as required
 * @param props.fixed items that cannot be removed any more
 */
export function ChoiceSection(
  props: FormPart & {
    name: 'participantsIds' | 'paymentSystemsId'
    title: string
    label: string
    choices: readonly Choice[]
    hint?: string
    empty?: string
    fixed?: readonly string[]
  },
) {
  const { form, isOpen, name, title, label: question, choices, hint, empty, fixed = [] } = props
  const section = name === 'participantsIds' ? 'banks' : 'paymentSystems'
  const texts = useTexts(formTexts)
  const [words, setWords] = useState('')
  const found = choices.filter(choice => choice.name.toLowerCase().includes(words.trim().toLowerCase()))
  // An item stays when it is no longer chosen, because it has the focus, and the choice may be a mistake.
  const [everChosen] = useState(() => new Set<string>())
  for (const id of form.values[name]) everChosen.add(id)
  const shownIds = new Set([...found.slice(0, maxShown).map(({ id }) => id), ...everChosen])
  const shown = choices.filter(({ id }) => shownIds.has(id))
  return (
    <FormSection name={section} title={title} isOpen={isOpen} fields={[name]}>
      {choices.length === 0 && empty && <Text c="dimmed">{empty}</Text>}
      <Checkbox.Group label={question} description={hint} withAsterisk {...form.getInputProps(name)}>
        {choices.length > maxShown && (
          <TextInput
            type="search"
            mt="xs"
            label={texts.searchChoices}
            description={texts.choicesShown(shown.length, choices.length)}
            value={words}
            onChange={({ currentTarget }) => setWords(currentTarget.value)}
            onKeyDown={event => {
              // Enter would send the form.
              if (event.key === 'Enter') event.preventDefault()
            }}
          />
        )}
        <Stack gap="xs" mt="xs" mb={form.errors[name] ? 'xs' : 0}>
          {shown.map(({ id, name: label }, index) => (
            <Checkbox
              key={id}
              value={id}
              label={label}
              disabled={fixed.includes(id)}
              {...(index === 0 && { 'data-path': name })}
            />
          ))}
        </Stack>
      </Checkbox.Group>
    </FormSection>
  )
}
