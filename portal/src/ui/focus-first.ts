/** Where the focus goes in a form with errors, and what is then read aloud. */
import type { FormEvent } from 'react'

/**
 * Moves the focus to the first field of the page that has an error: pass it to a form's `onSubmit`.
 *
 *     <form noValidate onSubmit={form.onSubmit(save, focusFirst)}>
 */
export function focusFirst(
  errors: Partial<Record<string, unknown>>,
  _values: unknown,
  event: FormEvent<HTMLFormElement> | undefined,
): void {
  const fields = event?.currentTarget.querySelectorAll<HTMLElement>('[data-path]') ?? []
  const wrong = [...fields].find(({ dataset }) => (dataset.path ?? '') in errors)
  if (wrong) focusWrong(wrong, errors[wrong.dataset.path ?? ''])
}

/**
 * Moves the focus to a field with an error. Screen readers read the error with the field. If the field already has the
 * focus, they would say nothing, so the error alone is read aloud.
 */
export function focusWrong(field: HTMLElement, error: unknown): void {
  if (document.activeElement !== field) {
    field.focus()
    return
  }
  if (typeof error !== 'string') return
  // A repeated attempt reads the error aloud again, and leaves one text on the page.
  for (const earlier of document.querySelectorAll('.said')) earlier.remove()
  const said = document.createElement('div')
  said.setAttribute('role', 'alert')
  said.className = 'said'
  said.textContent = error
  field.addEventListener('blur', () => said.remove(), { once: true })
  // Inside the form, because what is outside an open dialog is not read.
  ;(field.closest('form') ?? document.body).append(said)
}
