/** Adding a user, and issuing a credential. */
import { NativeSelect, PasswordInput, TextInput } from '@mantine/core'
import { useForm } from '@mantine/form'
import { modals } from '@mantine/modals'
import { useMutation } from '@tanstack/react-query'
import { answer, api } from '../../api/client.ts'
import { appTexts } from '../../app/texts.ts'
import { useTexts } from '../../i18n/preferences.tsx'
import { useNotify } from '../../ui/notify.tsx'
import { useFaults } from '../../ui/use-faults.ts'
import { useOperatorChanged } from '../queries.ts'
import { operatorTexts } from '../texts.ts'
import { FormFrame } from './form-frame.tsx'
import { PartnerSelect } from './partner-select.tsx'
import { showSecret } from './secret.tsx'

const rolesOf = {
  bank: ['ADMIN', 'EDITOR', 'VIEWER'],
  merchant: ['admin_user', 'editor', 'viewer'],
  platform: ['admin', 'viewer'],
} as const
type Kind = keyof typeof rolesOf

const userFields = ['login', 'role', 'password'] as const

export function UserForm() {
  const { access: texts } = useTexts(operatorTexts)
  const { role: roles, login: loginTexts } = useTexts(appTexts)
  const notify = useNotify()
  const changed = useOperatorChanged()
  const form = useForm({
    initialValues: { kind: 'merchant' as Kind, partner: '', login: '', role: 'editor' as string, password: '' },
    validate: { partner: (code, { kind }) => (kind !== 'platform' && code === '' ? texts.fillIn : null) },
  })
  const { place, rest } = useFaults(form, userFields)
  const { kind, partner, login, role, password } = form.values
  const save = useMutation({
    mutationFn: () => {
      const account = kind === 'platform' ? { platform: true as const } : { [kind]: partner }
      return answer(api.POST('/admin/users', { body: { ...account, login, role, password } }))
    },
    onError: place,
    async onSuccess() {
      notify.done(texts.added(login))
      modals.closeAll()
      await changed()
    },
  })
  return (
    <FormFrame
      action={texts.addUser}
      onSubmit={form.onSubmit(() => save.mutate())}
      rest={rest}
      isPending={save.isPending}
    >
      <NativeSelect
        label={texts.partner}
        data={(['merchant', 'bank', 'platform'] as const).map(value => ({ value, label: texts.partnerKinds[value] }))}
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
      <TextInput label={texts.login} required autoComplete="off" {...form.getInputProps('login')} />
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
        visibilityToggleButtonProps={{ 'aria-label': loginTexts.showPassword }}
        {...form.getInputProps('password')}
      />
    </FormFrame>
  )
}

const credentialFields = ['role', 'label'] as const

export function CredentialForm() {
  const { access: texts } = useTexts(operatorTexts)
  const { role: roles } = useTexts(appTexts)
  const changed = useOperatorChanged()
  const form = useForm({
    initialValues: { kind: 'bank' as 'bank' | 'merchant', partner: '', role: 'ADMIN' as const, label: '' },
    validate: { partner: code => (code === '' ? texts.fillIn : null) },
  })
  const { place, rest } = useFaults(form, credentialFields)
  const { kind, partner, role, label } = form.values
  const issue = useMutation({
    // It gives nothing back: what a mutation gives is kept for a while.
    async mutationFn() {
      const body = kind === 'bank' ? { bank: partner, role, label } : { merchant: partner, label }
      const issued = await answer(api.POST('/admin/credentials', { body }))
      modals.closeAll()
      showSecret(texts.secretTitle, issued)
    },
    onError: place,
    onSuccess: changed,
  })
  return (
    <FormFrame
      action={texts.issue}
      onSubmit={form.onSubmit(() => issue.mutate())}
      rest={rest}
      isPending={issue.isPending}
    >
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
      {kind === 'bank' && (
        <NativeSelect
          label={texts.role}
          data={rolesOf.bank.map(value => ({ value, label: roles[value] }))}
          {...form.getInputProps('role')}
        />
      )}
      <TextInput label={texts.label} {...form.getInputProps('label')} />
    </FormFrame>
  )
}
