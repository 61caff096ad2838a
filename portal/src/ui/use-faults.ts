import type { UseFormReturnType } from '@mantine/form'
import { useCallback, useState } from 'react'
import { isApiError } from '../api/errors.ts'
import { faultsByField } from '../api/faults.ts'
import { usePreferences } from '../i18n/preferences.tsx'

/**
 * Shows the platform's rules at the fields of a form: each fault at its field, with the focus in the first one; what belongs to no
 * field is `rest`, to be shown above the buttons with `<Failure>`.
 *
 *     const { place, rest } = useFaults(form, campaignFields)
 *     const save = useMutation({ mutationFn, onError: place })
 *
 * @param fields the form's fields in the order of the page, named as the platform names them
 */
export function useFaults<Values, Field extends string>(
  form: UseFormReturnType<Values>,
  fields: readonly Field[],
): { place(error: unknown): void; rest: unknown } {
  const { language } = usePreferences()
  const [rest, setRest] = useState<unknown>(null)
  const place = useCallback(
    (error: unknown) => {
      if (!isApiError(error, 400, 409)) return setRest(error)
      const { byField, others } = faultsByField(error, fields, language)
      form.setErrors(byField)
      setRest(others.length > 0 || Object.keys(byField).length === 0 ? error.with({ messages: others }) : null)
      const first = fields.find(field => byField[field] !== undefined)
      if (first) form.getInputNode(first as never)?.focus()
    },
    [form, fields, language],
  )
  return { place, rest }
}
