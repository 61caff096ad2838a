import { MultiSelect, type MultiSelectProps } from '@mantine/core'
import { useTexts } from '../i18n/preferences.tsx'
import { webhookTexts } from './texts.ts'

/** The choices: every type, and a wildcard such as `order.*` for each group with several types. */
export function typeOptions(types: readonly string[], group: (name: string) => string) {
  const groups = Map.groupBy(types, type => type.slice(0, type.indexOf('.')))
  return [...groups].flatMap(([name, members]) => [
    ...(members.length > 1 ? [{ value: `${name}.*`, label: group(name) }] : []),
    ...members.map(value => ({ value, label: value })),
  ])
}

/** A choice of event types and whole groups; choosing none means all. */
export function TypeChoice({ types, ...field }: MultiSelectProps & { types: readonly string[] }) {
  const { fields: texts } = useTexts(webhookTexts)
  const known = typeOptions(types, texts.group)
  // An endpoint may contain a type that the platform does not list for the account.
  const others = (field.value ?? []).filter(value => !known.some(option => option.value === value))
  return (
    <MultiSelect
      label={texts.types}
      description={texts.typesHint}
      data={[...known, ...others]}
      searchable
      clearable
      {...field}
    />
  )
}
