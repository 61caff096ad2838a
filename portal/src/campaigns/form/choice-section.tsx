import { Checkbox, Stack, Text } from '@mantine/core'
import type { FormPart } from './fields.ts'
import { FormSection } from './form-section.tsx'

type Choice = { id: string; name: string }

/**
 * Chooses some items of a list: the banks to invite, or the payment systems that take part.
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
  return (
    <FormSection name={section} title={title} isOpen={isOpen} fields={[name]}>
      {choices.length === 0 && empty && <Text c="dimmed">{empty}</Text>}
      <Checkbox.Group label={question} description={hint} withAsterisk {...form.getInputProps(name)}>
        <Stack gap="xs" mt="xs" mb={form.errors[name] ? 'xs' : 0}>
          {choices.map(({ id, name: label }, index) => (
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
