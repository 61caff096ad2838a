import { TextInput, type TextInputProps } from '@mantine/core'
import { usePreferences } from '../i18n/preferences.tsx'
import { readNumber, writeNumber } from '../i18n/typed-number.ts'
import { useTyped } from './use-typed.ts'

/**
 * A field for a number, typed as people write it in their language. It never corrects what was typed: a text that is no number stays as
 * it is and is the value, and the platform says at the field what is wrong with it.
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
