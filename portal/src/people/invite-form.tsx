import { Select, TextInput } from '@mantine/core'
import { useForm } from '@mantine/form'
import { modals } from '@mantine/modals'
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { answer, api } from '../api/client.ts'
import { useTexts } from '../i18n/preferences.tsx'
import { useFreshFactor } from '../session/fresh-factor.tsx'
import { rolesOf } from '../session/rights.ts'
import type { Session } from '../session/session.ts'
import { sessionTexts } from '../session/texts.ts'
import { FormFrame } from '../ui/form-frame.tsx'
import { useNotify } from '../ui/notify.tsx'
import { showOnce } from '../ui/once-shown.tsx'
import { useCreation } from '../ui/use-creation.tsx'
import { useFieldErrors } from '../ui/use-field-errors.ts'
import { useOnce } from '../ui/use-once.ts'
import type { Named } from './named.ts'
import { inviteTexts } from './texts.ts'

/** Where the invitation is created. */
const path = '/portal/invitations'
const fields = ['login', 'email', 'role'] as const

/**
 * Invites a person to an account. The person chooses the password, so nobody else knows it. The link is mailed, or shown
 * once to pass on.
 *
 * @param props.role the role that is chosen at first. Default: the one with the fewest rights
 * @param props.onInvited called with the link; without a link, it was mailed. Default: closes the dialog, and shows the
 *   link in another one
 * @param props.onCancel default: closes the dialog
 */
export function InviteForm(props: {
  named: Named
  typeAccount: Session['typeAccount']
  role?: string
  onInvited?: (link: string | undefined) => void
  onCancel?: () => void
}) {
  const { named, typeAccount, onCancel } = props
  const offered: readonly string[] = rolesOf({ typeAccount })
  const texts = useTexts(inviteTexts)
  const roles: Record<string, string> = useTexts(sessionTexts).role
  const fresh = useFreshFactor()
  const queryClient = useQueryClient()
  const notify = useNotify()
  const showLink = (link: string | undefined) => {
    modals.closeAll()
    if (link !== undefined) showOnce(texts.linkTitle, texts.linkText, [{ label: texts.link, value: link }])
  }
  const { onInvited = showLink } = props
  const form = useForm({ initialValues: { login: '', email: '', role: props.role ?? offered.at(-1) ?? '' } })
  const { place, clear, rest } = useFieldErrors(form, fields)
  const creation = useCreation({ path, query: named, texts: texts.lostAnswer })
  const invite = useMutation({
    // Returns nothing, because the answer contains the link and a mutation's result stays in memory for a while.
    async mutationFn() {
      const { login, email, role } = form.getValues()
      const body = { login: login.trim(), role, ...(email.trim() !== '' && { email: email.trim() }) }
      const send = () => fresh(() => answer(api.POST(path, { params: { query: named }, body })))
      const { link } = await creation.create(body, send)
      if (link === undefined) notify.done(texts.invited)
      onInvited(link)
    },
    onMutate: clear,
    onError: place,
    // Reads the lists again even after an error, because the person may be invited although the answer got lost.
    onSettled: () =>
      Promise.all([
        queryClient.invalidateQueries({ queryKey: ['account'] }),
        queryClient.invalidateQueries({ queryKey: ['operator'] }),
      ]),
  })
  const inviteOnce = useOnce(invite)
  return (
    <FormFrame
      action={texts.invite}
      onCancel={onCancel}
      onSubmit={inviteOnce}
      rest={rest}
      notice={creation.notice}
      isPending={invite.isPending}
    >
      <TextInput
        data-autofocus
        label={texts.login}
        required
        autoComplete="off"
        maxLength={128}
        {...form.getInputProps('login')}
      />
      <TextInput
        label={texts.email}
        description={texts.emailHint}
        type="email"
        autoComplete="off"
        maxLength={254}
        {...form.getInputProps('email')}
      />
      <Select
        label={texts.role}
        allowDeselect={false}
        data={offered.map(value => ({ value, label: roles[value] ?? value }))}
        {...form.getInputProps('role')}
      />
    </FormFrame>
  )
}
