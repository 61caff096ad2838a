import { Text, TextInput } from '@mantine/core'
import { useForm } from '@mantine/form'
import { modals } from '@mantine/modals'
import { useMutation } from '@tanstack/react-query'
import { api } from '../../api/client.ts'
import { useTexts } from '../../i18n/preferences.tsx'
import { useFreshFactor } from '../../session/fresh-factor.tsx'
import { FormFrame } from '../../ui/form-frame.tsx'
import { useNotify } from '../../ui/notify.tsx'
import { useFieldErrors } from '../../ui/use-field-errors.ts'
import { type Person, useAccountChanged } from '../queries.ts'
import { accountTexts } from '../texts.ts'

/** Sets, changes or removes the e-mail address of a person. */
export function EmailForm({ person: { userId, email: before } }: { person: Person }) {
  const texts = useTexts(accountTexts).people
  const fresh = useFreshFactor()
  const changed = useAccountChanged()
  const notify = useNotify()
  const form = useForm({ initialValues: { email: before ?? '' } })
  const { place, clear, rest } = useFieldErrors(form, ['email'])
  const save = useMutation({
    mutationFn: (email: string) =>
      fresh(() =>
        api.PATCH('/portal/users/{userId}', {
          params: { path: { userId } },
          body: { email: email === '' ? null : email },
        }),
      ),
    onSuccess() {
      modals.closeAll()
      notify.done(texts.done)
    },
    onMutate: clear,
    onError: place,
    // Reads the person again even after a failure, because somebody else may have changed the person.
    onSettled: () => void changed(),
  })
  return (
    <FormFrame
      action={texts.save}
      rest={rest}
      isPending={save.isPending}
      onSubmit={form.onSubmit(({ email }) => save.mutate(email.trim()))}
    >
      <Text>{texts.emailText}</Text>
      <TextInput
        data-autofocus
        label={texts.email}
        description={texts.noEmailHint}
        type="email"
        autoComplete="off"
        maxLength={254}
        {...form.getInputProps('email')}
      />
    </FormFrame>
  )
}
