import { type ChangeEvent, useState } from 'react'

/**
 * A text field that converts its text to a value, for example to a number. If the text cannot be converted, the text
 * itself becomes the value. So the input stays in the field, and the form can show an error.
 *
 * @param field.value a result of `read`, or a text that it refuses
 * @param field.read returns null for a text that it cannot read
 * @param field.write the text of a value
 * @returns props of the input; while somebody types, the text stays as typed
 */
export function useTyped<Value>(field: {
  value: Value | string
  read: (text: string) => Value | null
  write: (value: Value | string) => string
  onChange: (value: Value | string) => void
}) {
  const [typing, setTyping] = useState<string | null>(null)
  return {
    value: typing ?? field.write(field.value),
    onChange({ currentTarget }: ChangeEvent<HTMLInputElement>) {
      setTyping(currentTarget.value)
      field.onChange(field.read(currentTarget.value) ?? currentTarget.value)
    },
    onBlur: () => setTyping(null),
  }
}
