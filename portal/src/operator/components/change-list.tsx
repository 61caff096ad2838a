import { Stack, Text } from '@mantine/core'
import { useFormat, useTexts } from '../../i18n/preferences.tsx'
import { statusTexts } from '../../ui/status-texts.ts'
import type { Change } from '../queries.ts'
import { operatorTexts } from '../texts.ts'

/** The changes of the directory, field by field, with old and new values. */
export function ChangeList({ changes }: { changes: readonly Change[] }) {
  const { partners: texts } = useTexts(operatorTexts)
  const format = useFormat()
  const shown = useShownValue()
  const names: Record<string, string> = texts.fields
  return (
    <Stack component="dl" gap="sm" m={0}>
      {changes.flatMap(({ kind, code, change, fields }) =>
        Object.entries(fields)
          .filter(([name]) => name in names)
          .map(([name, value]) => (
            <div key={`${kind} ${code} ${name}`}>
              <Text component="dt" size="sm" c="dimmed">
                {names[name]}
              </Text>
              <Text component="dd" m={0} style={{ overflowWrap: 'anywhere' }}>
                {Array.isArray(value) ? (
                  <>
                    {change === 'updated' && (
                      <>
                        <del>{shown(value[0])}</del>
                        {' → '}
                      </>
                    )}
                    <b>{shown(value[1])}</b>
                  </>
                ) : (
                  texts.terminalsChange(
                    format.number(value.added),
                    format.number(value.removed),
                    format.number(value.changed),
                  )
                )}
              </Text>
            </div>
          )),
      )}
    </Stack>
  )
}

/** A value of the directory in the person's language. */
function useShownValue(): (value: unknown) => string {
  const { partners: texts } = useTexts(operatorTexts)
  const words: Record<string, string> = {
    ...useTexts(statusTexts).partner,
    ...texts.deliveryModes,
    all: texts.allOperators,
    true: texts.yes,
    false: texts.no,
  }
  const format = useFormat()
  return value => {
    if (typeof value === 'number') return format.number(value)
    const text = Array.isArray(value) ? value.join(', ') : String(value ?? '')
    return words[text] ?? (text || texts.empty)
  }
}
