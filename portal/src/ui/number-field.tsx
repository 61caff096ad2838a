import { TextInput, type TextInputProps } from '@mantine/core'
import { usePreferences } from '../i18n/preferences.tsx'
import { readNumber, writeNumber } from '../i18n/typed-number.ts'
import { useTyped } from './use-typed.ts'

/**
 * A field for a number in the format of the person's language. It never corrects the input. A text that is not a number
 * stays as the value, and the platform's error is then shown at the field.
 */
export function NumberField({
  value = '',
  onChange,
  decimals = 2,
  ...input
}: Omit<TextInputProps, 'value' | 'onChange' | 'defaultValue'> & {
  value?: number | string
  decimals?: number
  onChange: (value: number | string) => void
}) {
  const { language } = usePreferences()
  const typed = useTyped<number>({
    value,
    read: text => readNumber(text, language, decimals),
    write: number => (typeof number === 'number' ? writeNumber(number, language, decimals) : number),
    onChange,
  })
  return <TextInput inputMode="decimal" autoComplete="off" {...input} {...typed} />
}
