/** Adding a user, issuing a credential, and a secret that is shown this once: it is in this component's memory and nowhere else. */
import { Alert, Button, CopyButton, Group, NativeSelect, PasswordInput, Stack, TextInput } from '@mantine/core'
import { useForm } from '@mantine/form'
import { modals } from '@mantine/modals'
import { useMutation } from '@tanstack/react-query'
import { useState } from 'react'
import { answer, api } from '../../api/client.ts'
import { appTexts } from '../../app/texts.ts'
import { useTexts } from '../../i18n/preferences.tsx'
import { useNotify } from '../../ui/notify.tsx'
import { Failure } from '../../ui/states.tsx'
import { useOperatorChanged } from '../queries.ts'
import { operatorTexts } from '../texts.ts'

const rolesOf = {
  bank: ['ADMIN', 'EDITOR', 'VIEWER'],
  merchant: ['admin_user', 'editor', 'viewer'],
  platform: ['admin', 'viewer'],
} as const
type Kind = keyof typeof rolesOf

export function UserForm() {
  const { access: texts } = useTexts(operatorTexts)
  const { role: roles } = useTexts(appTexts)
  const notify = useNotify()
  const changed = useOperatorChanged()
  const [error, setError] = useState<unknown>(null)
  const form = useForm({
    initialValues: { kind: 'merchant' as Kind, partner: '', login: '', role: 'editor' as string, password: '' },
  })
  const { kind, partner, login, role, password } = form.values
  const save = useMutation({
    mutationFn: () => {
      const account = kind === 'platform' ? { platform: true as const } : { [kind]: partner }
      return answer(api.POST('/admin/users', { body: { ...account, login, role, password } }))
    },
    onError: setError,
    async onSuccess() {
      notify.done(texts.added(login))
      modals.closeAll()
      await changed()
    },
  })
  return (
    <form
      onSubmit={event => {
        event.preventDefault()
        setError(null)
        save.mutate()
      }}
    >
      <Stack gap="md">
        <NativeSelect
          label={texts.partner}
          data={(['merchant', 'bank', 'platform'] as const).map(value => ({ value, label: texts.partnerKinds[value] }))}
          value={kind}
          onChange={({ currentTarget }) => {
            const chosen = currentTarget.value as Kind
            form.setValues({ kind: chosen, role: rolesOf[chosen][0] })
          }}
        />
        {kind !== 'platform' && <TextInput label={texts.partnerCode} required {...form.getInputProps('partner')} />}
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
          {...form.getInputProps('password')}
        />
        {error !== null && <Failure error={error} />}
        <Buttons isPending={save.isPending} />
      </Stack>
    </form>
  )
}

export function CredentialForm() {
  const { access: texts } = useTexts(operatorTexts)
  const { role: roles } = useTexts(appTexts)
  const changed = useOperatorChanged()
  const [error, setError] = useState<unknown>(null)
  const form = useForm({
    initialValues: { kind: 'bank' as 'bank' | 'merchant', partner: '', role: 'ADMIN' as const, label: '' },
  })
  const { kind, partner, role, label } = form.values
  const issue = useMutation({
    mutationFn: () =>
      answer(
        api.POST('/admin/credentials', {
          body: kind === 'bank' ? { bank: partner, role, label } : { merchant: partner, label },
        }),
      ),
    onError: setError,
    onSuccess: () => changed(),
  })
  if (issue.data) return <Secret {...issue.data} />
  return (
    <form
      onSubmit={event => {
        event.preventDefault()
        setError(null)
        issue.mutate()
      }}
    >
      <Stack gap="md">
        <NativeSelect
          label={texts.partner}
          data={(['bank', 'merchant'] as const).map(value => ({ value, label: texts.partnerKinds[value] }))}
          {...form.getInputProps('kind')}
        />
        <TextInput label={texts.partnerCode} required {...form.getInputProps('partner')} />
        {kind === 'bank' && (
          <NativeSelect
            label={texts.role}
            data={rolesOf.bank.map(value => ({ value, label: roles[value] }))}
            {...form.getInputProps('role')}
          />
        )}
        <TextInput label={texts.label} {...form.getInputProps('label')} />
        {error !== null && <Failure error={error} />}
        <Buttons isPending={issue.isPending} />
      </Stack>
    </form>
  )
}

function Buttons({ isPending }: { isPending: boolean }) {
  const { access: texts } = useTexts(operatorTexts)
  return (
    <Group justify="flex-end">
      <Button variant="default" onClick={() => modals.closeAll()}>
        {texts.cancel}
      </Button>
      <Button type="submit" loading={isPending}>
        {texts.save}
      </Button>
    </Group>
  )
}

export function Secret({ clientId, secret }: { clientId: string; secret: string }) {
  const { access: texts } = useTexts(operatorTexts)
  return (
    <Stack gap="md">
      <Alert color="orange">{texts.secretText}</Alert>
      <TextInput label={texts.clientId} value={clientId} readOnly className="figure" />
      <Group align="flex-end" wrap="nowrap">
        <TextInput label={texts.secret} value={secret} readOnly flex={1} className="figure" />
        <CopyButton value={secret}>
          {({ copied, copy }) => (
            <Button variant="default" onClick={copy}>
              {copied ? texts.copied : texts.copy}
            </Button>
          )}
        </CopyButton>
      </Group>
      <Group justify="flex-end">
        <Button onClick={() => modals.closeAll()}>{texts.done}</Button>
      </Group>
    </Stack>
  )
}
