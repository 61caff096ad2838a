/** Forms that add a user and issue a credential. */
import { Alert, NativeSelect, PasswordInput, TextInput } from '@mantine/core'
import { useForm } from '@mantine/form'
import { modals } from '@mantine/modals'
import { useMutation } from '@tanstack/react-query'
import { answer, api } from '../../api/client.ts'
import { mayBeDone } from '../../api/errors.ts'
import { useTexts } from '../../i18n/preferences.tsx'
import { useFreshFactor } from '../../session/fresh-factor.tsx'
import { sessionTexts } from '../../session/texts.ts'
import { focusFirst } from '../../ui/focus-first.ts'
import { FormFrame } from '../../ui/form-frame.tsx'
import { useNotify } from '../../ui/notify.tsx'
import { useFieldErrors } from '../../ui/use-field-errors.ts'
import { useOnce } from '../../ui/use-once.ts'
import { useOperatorChanged } from '../queries.ts'
import { operatorTexts } from '../texts.ts'
import { PartnerSelect } from './partner-select.tsx'
import { type Issued, showSecret } from './secret.tsx'

const rolesOf = {
  bank: ['ADMIN', 'EDITOR', 'VIEWER'],
  merchant: ['admin_user', 'editor', 'viewer'],
  platform: ['admin', 'viewer'],
} as const
type Kind = keyof typeof rolesOf

/** The partner that gets the access. If it is left out, the form asks for a partner. */
export type Owner = { kind: 'bank' | 'merchant'; code: string }

type FormProps<Result extends unknown[]> = {
  owner?: Owner
  /**
   * Called after a user or a credential was created; it gets the new credential. By default, the form of a user closes
   * the dialog, and the form of a credential shows the secret.
   */
  onMade?: (...result: Result) => void
  /** Default: closes the dialog. */
  onCancel?: () => void
}

const userFields = ['login', 'role', 'password'] as const

export function UserForm({ owner, onMade = modals.closeAll, onCancel }: FormProps<[]>) {
  const { access: texts } = useTexts(operatorTexts)
  const { role: roles, showPassword } = useTexts(sessionTexts)
  const notify = useNotify()
  const changed = useOperatorChanged()
  const form = useForm({
    initialValues: {
      kind: (owner?.kind ?? 'merchant') as Kind,
      partner: owner?.code ?? '',
      login: '',
      role: owner ? rolesOf[owner.kind][0] : ('editor' as string),
      password: '',
    },
    validate: {
      partner: (code, { kind }) => (kind !== 'platform' && code === '' ? texts.fillIn : null),
      login: typed => (typed.trim() === '' ? texts.fillIn : null),
      password: typed => (typed === '' ? texts.fillIn : null),
    },
  })
  const { place, clear, rest } = useFieldErrors(form, userFields)
  const { kind, partner, login, role, password } = form.values
  const fresh = useFreshFactor()
  const save = useMutation({
    mutationFn: () => {
      const account = kind === 'platform' ? { platform: true as const } : { [kind]: partner }
      return fresh(() => answer(api.POST('/admin/users', { body: { ...account, login, role, password } })))
    },
    onMutate: clear,
    onError: place,
    async onSuccess() {
      notify.done(texts.added(login))
      onMade()
      await changed()
    },
  })
  const saveOnce = useOnce(save)
  return (
    <FormFrame
      action={texts.addUser}
      onCancel={onCancel}
      onSubmit={form.onSubmit(saveOnce, focusFirst)}
      rest={rest}
      isPending={save.isPending}
    >
      {!owner && (
        <>
          <NativeSelect
            label={texts.partner}
            data={(['merchant', 'bank', 'platform'] as const).map(value => ({
              value,
              label: texts.partnerKinds[value],
            }))}
            value={kind}
            onChange={({ currentTarget }) => {
              const chosen = currentTarget.value as Kind
              form.setValues({ kind: chosen, partner: '', role: rolesOf[chosen][0] })
            }}
            data-autofocus
          />
          {kind !== 'platform' && (
            <PartnerSelect
              key={kind}
              kind={kind}
              value={partner}
              onChange={code => form.setFieldValue('partner', code)}
              error={form.errors.partner}
            />
          )}
        </>
      )}
      <TextInput
        label={texts.login}
        required
        autoComplete="off"
        data-autofocus={owner && true}
        {...form.getInputProps('login')}
      />
      <NativeSelect
        label={texts.role}
        data={rolesOf[kind].map(value => ({ value, label: roles[value] }))}
        {...form.getInputProps('role')}
      />
      <PasswordInput
        label={texts.password}
        description={texts.passwordHint}
        required
        autoComplete="new-password"
        visibilityToggleButtonProps={{ 'aria-label': showPassword }}
        {...form.getInputProps('password')}
      />
    </FormFrame>
  )
}

const firstOwner = (owner: Owner = { kind: 'bank', code: '' }) => ({ kind: owner.kind, partner: owner.code })

const credentialFields = ['role', 'label'] as const

export function CredentialForm({ owner, onMade, onCancel }: FormProps<[Issued]>) {
  const { access: texts } = useTexts(operatorTexts)
  const { role: roles } = useTexts(sessionTexts)
  const changed = useOperatorChanged()
  const form = useForm({
    initialValues: { ...firstOwner(owner), role: 'ADMIN' as const, label: '' },
    validate: { partner: code => (code === '' ? texts.fillIn : null) },
  })
  const { place, clear, rest } = useFieldErrors(form, credentialFields)
  const { kind, partner, role, label } = form.values
  const fresh = useFreshFactor()
  const issue = useMutation({
    // Returns nothing, because the answer contains the secret and a mutation's result stays in memory for a while.
    async mutationFn() {
      const body = kind === 'bank' ? { bank: partner, role, label } : { merchant: partner, label }
      const issued = await fresh(() => answer(api.POST('/admin/credentials', { body })))
      if (onMade) onMade(issued)
      else showSecret(texts.secretTitle, issued)
    },
    onMutate: clear,
    onError: place,
    onSettled: changed,
  })
  const issueOnce = useOnce(issue)
  return (
    <FormFrame
      action={texts.issue}
      onCancel={onCancel}
      onSubmit={form.onSubmit(issueOnce, focusFirst)}
      rest={rest}
      isPending={issue.isPending}
    >
      {mayBeDone(issue.error) && <Alert color="orange">{texts.mayBeIssued}</Alert>}
      {!owner && (
        <>
          <NativeSelect
            label={texts.partner}
            data={(['bank', 'merchant'] as const).map(value => ({ value, label: texts.partnerKinds[value] }))}
            value={kind}
            onChange={({ currentTarget }) =>
              form.setValues({ kind: currentTarget.value === 'bank' ? 'bank' : 'merchant', partner: '' })
            }
            data-autofocus
          />
          <PartnerSelect
            key={kind}
            kind={kind}
            value={partner}
            onChange={code => form.setFieldValue('partner', code)}
            error={form.errors.partner}
          />
        </>
      )}
      {kind === 'bank' && (
        <NativeSelect
          label={texts.role}
          data={rolesOf.bank.map(value => ({ value, label: roles[value] }))}
          {...form.getInputProps('role')}
        />
      )}
      <TextInput label={texts.label} data-autofocus={owner && true} {...form.getInputProps('label')} />
    </FormFrame>
  )
}
