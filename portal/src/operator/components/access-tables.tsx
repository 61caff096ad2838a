/** Tables of users and credentials with their actions: of all partners, or of one. */
import { Button, Group, Stack, Text } from '@mantine/core'
import { modals } from '@mantine/modals'
import type { ComponentProps } from 'react'
import { answer, api } from '../../api/client.ts'
import { useAction } from '../../campaigns/detail/use-action.ts'
import { useFormat, useTexts } from '../../i18n/preferences.tsx'
import { sessionTexts } from '../../session/texts.ts'
import { useMayChange, useSession } from '../../session/use-session.ts'
import type { Column } from '../../ui/data-table/columns.ts'
import { DataTable } from '../../ui/data-table/data-table.tsx'
import { LinkAnchor } from '../../ui/links.tsx'
import { oldSecretUntil } from '../../ui/old-secret.ts'
import { StatusBadge } from '../../ui/status-badge.tsx'
import { DateTime } from '../../ui/values.tsx'
import { type Credential, type User, useOperatorChanged } from '../queries.ts'
import { operatorTexts } from '../texts.ts'
import { PartnerName } from './partner-name.tsx'
import { RotateForm } from './rotate-form.tsx'

type TableProps<Row> = Omit<ComponentProps<typeof DataTable<Row>>, 'label' | 'columns' | 'rowKey'> & {
  /** Whether a column shows the account of each row. A table of one partner does not need it. */
  hasAccount?: boolean
}

/** @param platform the name of the platform's own account */
export const accountOf = ({ bank, merchant }: { bank: string | null; merchant: string | null }, platform: string) =>
  bank ?? merchant ?? platform

function Account({ of: { bank, merchant } }: { of: { bank: string | null; merchant: string | null } }) {
  const { access: texts } = useTexts(operatorTexts)
  if (bank !== null) return <PartnerName kind="bank" code={bank} />
  return merchant === null ? texts.platform : <PartnerName kind="merchant" code={merchant} />
}

export function UsersTable({ hasAccount = false, ...table }: TableProps<User>) {
  const { login: self } = useSession()
  const { access: texts } = useTexts(operatorTexts)
  const { role: roles } = useTexts(sessionTexts)
  const format = useFormat()
  const mayChange = useMayChange()
  const account: Column<User> = { key: 'account', title: texts.account, cell: user => <Account of={user} /> }
  const actions: Column<User> = {
    key: 'actions',
    title: texts.actions,
    align: 'right',
    // People cannot disable their own login.
    cell(user) {
      if (user.isInvited) return <ToPeople user={user}>{texts.toWithdraw}</ToPeople>
      if (user.disabledAt) return <ToPeople user={user}>{texts.toEnable}</ToPeople>
      return user.login !== self && <Disable login={user.login} />
    },
  }
  const columns: Column<User>[] = [
    {
      key: 'login',
      title: texts.login,
      cell: ({ login, disabledAt }) => (
        <Text span fw={600} c={disabledAt ? 'dimmed' : 'inherit'}>
          {login}
        </Text>
      ),
    },
    ...(hasAccount ? [account] : []),
    { key: 'role', title: texts.role, cell: ({ role }) => (roles as Record<string, string>)[role] ?? role },
    {
      key: 'status',
      title: texts.status,
      cell: ({ disabledAt, isInvited }) => (
        <Stack gap={0} align="flex-start">
          <StatusBadge of="access" status={isInvited ? 'invited' : disabledAt ? 'disabled' : 'active'} />
          {disabledAt && (
            <Text size="sm" c="dimmed">
              {texts.disabledOn(format.date(disabledAt))}
            </Text>
          )}
        </Stack>
      ),
    },
    {
      key: 'since',
      title: texts.since,
      cell: ({ createdAt }) => <DateTime at={createdAt} withTime={false} />,
    },
    ...(mayChange ? [actions] : []),
  ]
  return <DataTable label={texts.tabs.users} columns={columns} rowKey={({ userId }) => userId} {...table} />
}

function Disable({ login }: { login: string }) {
  const { access: texts } = useTexts(operatorTexts)
  const question = {
    title: texts.disableTitle(login),
    text: texts.disableText,
    action: texts.disable,
    isDangerous: true,
    done: texts.disabled(login),
  }
  const action = useAction(
    question,
    () => answer(api.POST('/admin/users/{login}/disable', { params: { path: { login } } })),
    useOperatorChanged(),
  )
  return (
    <Button
      size="xs"
      variant="subtle"
      color="red"
      aria-label={`${texts.disable}: ${login}`}
      loading={action.isPending}
      onClick={action.ask}
    >
      {texts.disable}
    </Button>
  )
}

/** Links to the person's row on the page that can enable disabled people and withdraw invitations. */
function ToPeople({ user: { login, bank, merchant }, children }: { user: User; children: string }) {
  const search = { search: login, bank: bank ?? undefined, merchant: merchant ?? undefined }
  return (
    <LinkAnchor to="/account/people" search={search} size="sm" aria-label={`${children}: ${login}`}>
      {children}
    </LinkAnchor>
  )
}

export function CredentialsTable({ hasAccount = false, ...table }: TableProps<Credential>) {
  const { access: texts } = useTexts(operatorTexts)
  const { role: roles } = useTexts(sessionTexts)
  const mayChange = useMayChange()
  const account: Column<Credential> = { key: 'account', title: texts.account, cell: each => <Account of={each} /> }
  const actions: Column<Credential> = {
    key: 'actions',
    title: texts.actions,
    align: 'right',
    cell: credential => credential.revokedAt === null && <CredentialActions credential={credential} />,
  }
  const columns: Column<Credential>[] = [
    {
      key: 'label',
      title: texts.label,
      cell: ({ label, clientId }) => (
        <Stack gap={0}>
          {label && <b>{label}</b>}
          <span className="figure">{clientId}</span>
        </Stack>
      ),
    },
    ...(hasAccount ? [account] : []),
    { key: 'role', title: texts.role, cell: ({ role }) => (roles as Record<string, string>)[role] ?? role },
    { key: 'status', title: texts.status, cell: credential => <CredentialStatus credential={credential} /> },
    {
      key: 'since',
      title: texts.since,
      cell: ({ createdAt }) => <DateTime at={createdAt} withTime={false} />,
    },
    ...(mayChange ? [actions] : []),
  ]
  return <DataTable label={texts.tabs.credentials} columns={columns} rowKey={({ clientId }) => clientId} {...table} />
}

function CredentialStatus({ credential }: { credential: Credential }) {
  const { access: texts } = useTexts(operatorTexts)
  const format = useFormat()
  if (credential.revokedAt) return <StatusBadge of="access" status="revoked" />
  const until = oldSecretUntil(credential)
  if (!until) return <StatusBadge of="access" status="active" />
  return (
    <Stack gap={0} align="flex-start">
      <StatusBadge of="access" status="expiring" />
      <Text size="sm" c="dimmed">
        {texts.oldUntil(format.dateTime(until))}
      </Text>
    </Stack>
  )
}

function CredentialActions({ credential }: { credential: Credential }) {
  const { clientId, label } = credential
  const { access: texts } = useTexts(operatorTexts)
  const name = label || clientId
  const revoke = useAction(
    {
      title: texts.revokeTitle(name),
      text: texts.revokeText,
      action: texts.revoke,
      isDangerous: true,
      done: texts.revoked,
    },
    () => answer(api.POST('/admin/credentials/{clientId}/revoke', { params: { path: { clientId } } })),
    useOperatorChanged(),
  )
  const rotate = () => modals.open({ title: texts.rotateTitle(name), children: <RotateForm credential={credential} /> })
  return (
    <Group gap="xs" justify="flex-end">
      <Button size="xs" variant="default" aria-label={`${texts.rotate}: ${name}`} onClick={rotate}>
        {texts.rotate}
      </Button>
      <Button
        size="xs"
        variant="subtle"
        color="red"
        aria-label={`${texts.revoke}: ${name}`}
        loading={revoke.isPending}
        onClick={revoke.ask}
      >
        {texts.revoke}
      </Button>
    </Group>
  )
}
