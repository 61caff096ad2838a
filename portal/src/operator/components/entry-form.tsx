/**
 * A form for an entry of the directory, in a dialog. It sends only what was changed, and shows the changes before they
 * are applied.
 */
import { Button, Group, Stack, Text, TextInput } from '@mantine/core'
import type { UseFormReturnType } from '@mantine/form'
import { modals } from '@mantine/modals'
import { useMutation } from '@tanstack/react-query'
import { type ReactNode, useState } from 'react'
import { isApiError, mayBeDone } from '../../api/errors.ts'
import { useTexts } from '../../i18n/preferences.tsx'
import { useAskBeforeUnload } from '../../ui/ask-before-unload.ts'
import { FormFrame } from '../../ui/form-frame.tsx'
import { useNotify } from '../../ui/notify.tsx'
import { Failure } from '../../ui/states.tsx'
import { useFieldErrors } from '../../ui/use-field-errors.ts'
import { useOnce } from '../../ui/use-once.ts'
import { type Applied, type Change, useOperatorChanged } from '../queries.ts'
import { operatorTexts } from '../texts.ts'
import { ChangeList } from './change-list.tsx'

/** The field for a code. Only forms of new entries have it, because a code is permanent. */
export function CodeInput(input: object) {
  const { partners: texts } = useTexts(operatorTexts)
  return <TextInput label={texts.code} description={texts.codeHint} required data-autofocus {...input} />
}

const isFields = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/**
 * The changed fields, in the form of the API. The API keeps fields that are left out. So when two people change
 * different fields at once, neither change is lost.
 *
 * @param before the entry when the form was opened
 */
export function changedOnly(before: object, after: object): Record<string, unknown> {
  const old = before as Record<string, unknown>
  return Object.fromEntries(
    Object.entries(after).flatMap(([name, value]): [string, unknown][] => {
      if (JSON.stringify(old[name]) === JSON.stringify(value)) return []
      return [[name, isFields(value) && isFields(old[name]) ? changedOnly(old[name], value) : value]]
    }),
  )
}

/** `mode` overrides the default of the form, which is `create` for a new entry and `apply` for an existing one. */
export type SaveOptions = { dryRun: boolean; mode?: 'create' | 'apply' }

/**
 * Errors are shown at their fields, and the input is kept. A new entry is created at once; for a change, the changed
 * fields are listed first. If a new entry is half filled in, the browser asks before it unloads the page.
 *
 * @param props.fields named as in the directory, in the order of the form
 * @param props.onSave applies the entry; with `dryRun` it only returns the changes
 * @param props.onSaved called instead of closing the dialog
 */
export function EntryForm<Values>(props: {
  form: UseFormReturnType<Values>
  fields: readonly string[]
  name: string
  isNew: boolean
  onSave: (options: SaveOptions) => Promise<Applied>
  onSaved?: (() => void) | undefined
  children: ReactNode
}) {
  const { form, fields, name, isNew, onSave, onSaved = modals.closeAll, children } = props
  const { partners: texts } = useTexts(operatorTexts)
  const notify = useNotify()
  const changed = useOperatorChanged()
  const { place, clear, rest } = useFieldErrors(form, fields)
  const [changes, setChanges] = useState<Change[] | null>(null)
  const [wasLost, setLost] = useState(false)
  useAskBeforeUnload(isNew && form.isDirty())
  const save = useMutation({
    async mutationFn() {
      try {
        await onSave({ dryRun: false })
      } catch (error) {
        // The answer of an earlier try got lost, so that try may have created the entry.
        if (!wasLost || !isApiError(error, 409)) throw error
        const { changes } = await onSave({ dryRun: true, mode: 'apply' })
        if (changes.length > 0) throw error
      }
    },
    onMutate: clear,
    onError(error) {
      if (mayBeDone(error)) setLost(true)
      setChanges(null)
      place(error)
    },
    async onSuccess() {
      notify.done(texts.saved(name))
      onSaved()
      await changed()
    },
  })
  const review = useMutation({
    mutationFn: () => onSave({ dryRun: true }),
    onMutate: clear,
    onError: place,
    onSuccess(tried) {
      if (tried.changes.length > 0) return setChanges(tried.changes)
      notify.done(texts.unchanged)
      modals.closeAll()
    },
  })
  const saveOnce = useOnce(save)
  const reviewOnce = useOnce(review)
  if (changes)
    return (
      <Review
        changes={changes}
        error={save.error}
        isPending={save.isPending}
        onApply={saveOnce}
        onBack={() => setChanges(null)}
      />
    )
  return (
    <FormFrame
      action={isNew ? texts.save : texts.review}
      onSubmit={isNew ? saveOnce : reviewOnce}
      rest={rest}
      isPending={save.isPending || review.isPending}
    >
      {children}
    </FormFrame>
  )
}

function Review(props: {
  changes: Change[]
  error: unknown
  isPending: boolean
  onApply: () => void
  onBack: () => void
}) {
  const { changes, error, isPending, onApply, onBack } = props
  const { partners: texts } = useTexts(operatorTexts)
  return (
    <Stack gap="md">
      <Text fw={600}>{texts.reviewTitle}</Text>
      <ChangeList changes={changes} />
      {error !== null && <Failure error={error} />}
      <Group justify="flex-end">
        <Button variant="default" onClick={onBack}>
          {texts.back}
        </Button>
        <Button loading={isPending} onClick={onApply} data-autofocus>
          {texts.apply}
        </Button>
      </Group>
    </Stack>
  )
}
