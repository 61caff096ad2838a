import { ActionIcon, Badge, Button, Group, Menu, Select, Stack, Text, TextInput } from '@mantine/core'
import { useForm } from '@mantine/form'
import { modals } from '@mantine/modals'
import { IconDotsVertical } from '@tabler/icons-react'
import { useMutation, useQuery } from '@tanstack/react-query'
import { getRouteApi } from '@tanstack/react-router'
import { answer, api } from '../../api/client.ts'
import { appTexts } from '../../app/texts.ts'
import { useTexts } from '../../i18n/preferences.tsx'
import { useFreshFactor } from '../../session/fresh-factor.tsx'
import { rolesOf } from '../../session/rights.ts'
import { useSession } from '../../session/use-session.ts'
import { useConfirm } from '../../ui/confirm.tsx'
import type { Column } from '../../ui/data-table/columns.ts'
import { DataTable } from '../../ui/data-table/data-table.tsx'
import { useNotify } from '../../ui/notify.tsx'
import { showOnce } from '../../ui/once-shown.tsx'
import { PageHeader } from '../../ui/page-header.tsx'
import { Failure } from '../../ui/states.tsx'
import { useFieldErrors } from '../../ui/use-field-errors.ts'
import { DateTime } from '../../ui/values.tsx'
import { AccountChoice, type ChosenAccount, useChosenAccount } from '../components/account-choice.tsx'
import { invitationsQuery, type Person, peopleQuery, useAccountChanged } from '../queries.ts'
import { accountTexts } from '../texts.ts'

const route = getRouteApi('/signed-in/account/people')
const colourOf = { invited: 'blue', active: 'perk', disabled: 'gray' }

/** The people of the account and their roles, with inviting, changing and disabling. */
export function PeoplePage() {
  const texts = useTexts(accountTexts).people
  const roles = useRoleTexts()
  const search = route.useSearch()
  const account = useChosenAccount(search)
  const query = useQuery(peopleQuery(account.named))
  const columns: Column<Person>[] = [
    {
      key: 'login',
      title: texts.login,
      cell: ({ login, email }) => (
        <>
          <Text fw={600}>{login}</Text>
          {email && (
            <Text size="sm" c="dimmed">
              {email}
            </Text>
          )}
        </>
      ),
    },
    { key: 'role', title: texts.role, cell: ({ role }) => roles[role] ?? role },
    {
      key: 'status',
      title: texts.status,
      cell: ({ status, mail }) => (
        <Stack gap={2} align="flex-start">
          <Badge color={colourOf[status]}>{texts.statuses[status]}</Badge>
          {mail === 'failed' && (
            <Text size="sm" c="red">
              {texts.mailFailed}
            </Text>
          )}
        </Stack>
      ),
    },
    { key: 'factor', title: texts.factor, cell: ({ mfa }) => (mfa.length > 0 ? texts.on : texts.off), isMinor: true },
    {
      key: 'seen',
      title: texts.seen,
      cell: ({ lastSeenAt }) => (lastSeenAt ? <DateTime at={lastSeenAt} /> : texts.never),
      isMinor: true,
    },
    {
      key: 'actions',
      title: texts.actions,
      align: 'right',
      cell: person => <Actions person={person} account={account} />,
    },
  ]
  return (
    <>
      <PageHeader
        title={texts.title}
        lead={texts.lead}
        actions={
          <Button onClick={() => modals.open({ title: texts.inviteTitle, children: <InviteForm {...account} /> })}>
            {texts.invite}
          </Button>
        }
      />
      <AccountChoice search={search} />
      <DataTable
        label={texts.title}
        columns={columns}
        query={query}
        rows={query.data}
        rowKey={({ userId }) => userId}
      />
    </>
  )
}

const useRoleTexts = (): Record<string, string> => useTexts(appTexts).role

function InviteForm({ named, typeAccount }: ChosenAccount) {
  const offered: readonly string[] = rolesOf({ typeAccount })
  const texts = useTexts(accountTexts).people
  const roles = useRoleTexts()
  const fresh = useFreshFactor()
  const changed = useAccountChanged()
  const notify = useNotify()
  const form = useForm({ initialValues: { login: '', email: '', role: offered.at(-1) ?? '' } })
  const { place, rest } = useFieldErrors(form, ['login', 'email', 'role'])
  const invite = useMutation({
    mutationFn: ({ login, email, role }: { login: string; email: string; role: string }) => {
      const body = { login: login.trim(), role, ...(email.trim() !== '' && { email: email.trim() }) }
      return fresh(() => answer(api.POST('/portal/invitations', { params: { query: named }, body })))
    },
    onSuccess({ link }) {
      void changed()
      modals.closeAll()
      if (link === undefined) notify.done(texts.invited)
      else showOnce(texts.linkTitle, texts.linkText, [{ label: texts.link, value: link }])
    },
    onError: place,
  })
  return (
    <form noValidate onSubmit={form.onSubmit(values => invite.mutate(values))}>
      <Stack>
        {rest !== null && <Failure error={rest} />}
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
        <Group justify="flex-end">
          <Button type="submit" loading={invite.isPending}>
            {texts.invite}
          </Button>
        </Group>
      </Stack>
    </form>
  )
}

function Actions({ person, account }: { person: Person; account: ChosenAccount }) {
  const texts = useTexts(accountTexts).people
  const roles = useRoleTexts()
  const session = useSession()
  const confirm = useConfirm()
  const { change, resetPassword, resetFactor, erase, withdraw } = useChanges(person, account)
  const disable = async () => {
    const question = {
      title: texts.disableTitle(person.login),
      text: texts.disableText,
      action: texts.disable,
      isDangerous: true,
    }
    if (await confirm(question)) change.mutate({ disabled: true })
  }
  const removeFactor = async () => {
    const question = {
      title: texts.resetFactorTitle(person.login),
      text: texts.resetFactorText,
      action: texts.resetFactor,
      isDangerous: true,
    }
    if (await confirm(question)) resetFactor.mutate()
  }
  const eraseForGood = async () => {
    const question = {
      title: texts.eraseTitle(person.login),
      text: texts.eraseText,
      action: texts.erase,
      isDangerous: true,
    }
    if (await confirm(question)) erase.mutate()
  }
  // People cannot change their own role or disable themselves.
  if (person.login === session.login) return null
  return (
    <Menu position="bottom-end" withinPortal>
      <Menu.Target>
        <ActionIcon variant="subtle" color="gray" aria-label={texts.more(person.login)}>
          <IconDotsVertical size={18} aria-hidden />
        </ActionIcon>
      </Menu.Target>
      <Menu.Dropdown>
        {person.status === 'invited' && <Menu.Item onClick={() => withdraw.mutate()}>{texts.withdraw}</Menu.Item>}
        {person.status === 'disabled' && (
          <>
            <Menu.Item onClick={() => change.mutate({ disabled: false })}>{texts.enable}</Menu.Item>
            <Menu.Item color="red" onClick={() => void eraseForGood()}>
              {texts.erase}
            </Menu.Item>
          </>
        )}
        {person.status === 'active' && (
          <>
            {rolesOf(account)
              .filter(role => role !== person.role)
              .map(role => (
                <Menu.Item key={role} onClick={() => change.mutate({ role })}>
                  {texts.makeRole(roles[role] ?? role)}
                </Menu.Item>
              ))}
            <Menu.Divider />
            <Menu.Item onClick={() => resetPassword.mutate()}>{texts.resetPassword}</Menu.Item>
            {person.mfa.length > 0 && <Menu.Item onClick={() => void removeFactor()}>{texts.resetFactor}</Menu.Item>}
            <Menu.Item color="red" onClick={() => void disable()}>
              {texts.disable}
            </Menu.Item>
          </>
        )}
      </Menu.Dropdown>
    </Menu>
  )
}

function useChanges({ userId, login }: Person, { named }: ChosenAccount) {
  const texts = useTexts(accountTexts).people
  const fresh = useFreshFactor()
  const changed = useAccountChanged()
  const notify = useNotify()
  const invitations = useQuery({ ...invitationsQuery(named), enabled: false })
  const path = { params: { path: { userId } } }
  const onSuccess = () => {
    void changed()
    notify.done(texts.done)
  }
  const outcome = { onSuccess, onError: notify.failed }
  return {
    change: useMutation({
      mutationFn: (body: { role?: string; disabled?: boolean }) =>
        fresh(() => api.PATCH('/portal/users/{userId}', { ...path, body })),
      ...outcome,
    }),
    resetPassword: useMutation({
      mutationFn: () => fresh(() => answer(api.POST('/portal/users/{userId}/reset-password', path))),
      onSuccess({ link }) {
        void changed()
        if (link === undefined) notify.done(texts.mailed)
        else showOnce(texts.linkTitle, texts.linkText, [{ label: texts.link, value: link }])
      },
      onError: notify.failed,
    }),
    resetFactor: useMutation({
      mutationFn: () => fresh(() => api.POST('/portal/users/{userId}/reset-mfa', path)),
      ...outcome,
    }),
    erase: useMutation({
      mutationFn: () => fresh(() => api.DELETE('/portal/users/{userId}', path)),
      ...outcome,
    }),
    withdraw: useMutation({
      async mutationFn() {
        const { data } = await invitations.refetch()
        const found = data?.find(invitation => invitation.login === login)
        if (found)
          await api.DELETE('/portal/invitations/{invitationId}', {
            params: { path: { invitationId: found.invitationId } },
          })
      },
      ...outcome,
    }),
  }
}
