import type { FormEvent } from 'react'

/**
 * Moves the focus to the first field of the page that has an error: pass it to a form's `onSubmit`.
 *
 *     <form noValidate onSubmit={form.onSubmit(save, focusFirst)}>
 */
export function focusFirst(errors: object, _values: unknown, event: FormEvent<HTMLFormElement> | undefined): void {
  const fields = event?.currentTarget.querySelectorAll<HTMLElement>('[data-path]') ?? []
  const wrong = [...fields].find(({ dataset }) => (dataset.path ?? '') in errors)
  wrong?.focus()
}
