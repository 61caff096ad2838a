import type { UseFormReturnType } from '@mantine/form'
import { useCallback, useState } from 'react'
import { CancelledError, isApiError } from '../api/errors.ts'
import { errorsByField } from '../api/field-errors.ts'
import { ruleTexts } from '../api/rule-texts.ts'
import { usePreferences } from '../i18n/preferences.tsx'
import { focusWrong } from './focus-first.ts'

const isEmpty = <Values>(form: UseFormReturnType<Values>, field: string): boolean =>
  (form.getValues() as Record<string, unknown>)[field] === ''

/**
 * Shows the platform's errors in a form: each at its field, with the focus in the first one. Errors that belong to no
 * field are in `rest`; show them above the buttons with `<Failure>`. `clear` removes them when the form is sent again.
 *
 *     const { place, clear, rest } = useFieldErrors(form, campaignFields)
 *     const save = useMutation({ mutationFn, onMutate: clear, onError: place })
 *
 * @param fields the form's fields in the order of the page, named as the platform names them
 */
export function useFieldErrors<Values, Field extends string>(
  form: UseFormReturnType<Values>,
  fields: readonly Field[],
): { place(error: unknown): void; clear(): void; rest: unknown } {
  const { language } = usePreferences()
  const [rest, setRest] = useState<unknown>(null)
  const clear = useCallback(() => setRest(null), [])
  const place = useCallback(
    (error: unknown) => {
      if (error instanceof CancelledError) return setRest(null)
      if (!isApiError(error, 400, 409)) return setRest(error)
      const { byField, others } = errorsByField(error, fields, language)
      // An empty field may break several rules. Then we show only that the field must be filled in.
      const fillIn = ruleTexts.given[language]({})
      const errors = Object.fromEntries(
        Object.entries<string | undefined>(byField).map(([field, text]) => [
          field,
          isEmpty(form, field) ? fillIn : text,
        ]),
      )
      form.setErrors(errors)
      setRest(others.length > 0 || Object.keys(byField).length === 0 ? error.with({ messages: others }) : null)
      const first = fields.find(field => byField[field] !== undefined)
      const field = first && form.getInputNode(first as never)
      if (field) focusWrong(field, errors[first])
    },
    [form, fields, language],
  )
  return { place, clear, rest }
}
