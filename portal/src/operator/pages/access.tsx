import { Button, Group, Stack, Tabs } from '@mantine/core'
import { modals } from '@mantine/modals'
import { useMutation, useQuery } from '@tanstack/react-query'
import { getRouteApi } from '@tanstack/react-router'
import { answer, api } from '../../api/client.ts'
import { appTexts } from '../../app/texts.ts'
import { useMove } from '../../campaigns/use-move.ts'
import { useTexts } from '../../i18n/preferences.tsx'
import { useMayChange, useSession } from '../../session/use-session.ts'
import { useConfirm } from '../../ui/confirm.tsx'
import { type Column, sortedPage } from '../../ui/data-table/columns.ts'
import { DataTable } from '../../ui/data-table/data-table.tsx'
import { useSetSearch } from '../../ui/data-table/use-table-search.ts'
import { useNotify } from '../../ui/notify.tsx'
import { PageHeader } from '../../ui/page-header.tsx'
import { SearchInput } from '../../ui/search-input.tsx'
import { Empty } from '../../ui/states.tsx'
import { StatusBadge } from '../../ui/status-badge.tsx'
import { DateTime } from '../../ui/values.tsx'
import { CredentialForm, UserForm } from '../parts/access-forms.tsx'
import { showSecret } from '../parts/secret.tsx'
import { type Credential, credentialsQuery, type User, useOperatorChanged, usersQuery } from '../queries.ts'
import type { AccessSearch } from '../search.ts'
import { operatorTexts } from '../texts.ts'

const route = getRouteApi('/signed-in/operator/access')
const pageSize = 20

/** Portal users and credentials. */
export function AccessPage() {
  const { access: texts } = useTexts(operatorTexts)
  const { tab = 'users', search } = route.useSearch()
  const setSearch = useSetSearch<AccessSearch>()
  const mayChange = useMayChange()
  const add = () =>
    tab === 'users'
      ? modals.open({ title: texts.addUser, children: <UserForm /> })
      : modals.open({ title: texts.issue, children: <CredentialForm /> })
  return (
    <>
      <PageHeader
        title={texts.title}
        lead={texts.lead}
        actions={mayChange && <Button onClick={add}>{tab === 'users' ? texts.addUser : texts.issue}</Button>}
      />
      <Tabs
        value={tab}
        onChange={value => setSearch({ tab: value === 'credentials' ? value : undefined, search: undefined })}
        keepMounted={false}
      >
        <Tabs.List mb="lg">
          <Tabs.Tab value="users">{texts.tabs.users}</Tabs.Tab>
          <Tabs.Tab value="credentials">{texts.tabs.credentials}</Tabs.Tab>
        </Tabs.List>
        <Group mb="md">
          <SearchInput label={texts.search} value={search} onChange={words => setSearch({ search: words })} />
        </Group>
        <Tabs.Panel value="users">
          <Users />
        </Tabs.Panel>
        <Tabs.Panel value="credentials">
          <Credentials />
        </Tabs.Panel>
      </Tabs>
    </>
  )
}

/** The rows that hold the words that are searched for, newest first, page by page. */
function useShown<Row extends { createdAt: string }>(rows: readonly Row[] | undefined, textOf: (row: Row) => string) {
  const { search, page = 1 } = route.useSearch()
  const words = search?.toLowerCase() ?? ''
  const found = rows?.filter(row => textOf(row).toLowerCase().includes(words))
  return (
    found &&
    sortedPage(found, { by: 'createdAt', order: 'DESC' }, page, pageSize, { createdAt: ({ createdAt }) => createdAt })
  )
}

const accountOf = ({ bank, merchant }: { bank: string | null; merchant: string | null }, platform: string): string =>
  bank ?? merchant ?? platform

function Users() {
  const { login: self } = useSession()
  const { access: texts } = useTexts(operatorTexts)
  const { role: roles } = useTexts(appTexts)
  const mayChange = useMayChange()
  const { search } = route.useSearch()
  const setSearch = useSetSearch<AccessSearch>()
  const query = useQuery(usersQuery)
  const shown = useShown(query.data, user => `${user.login} ${accountOf(user, texts.platform)}`)
  const columns: Column<User>[] = [
    { key: 'login', title: texts.login, cell: ({ login }) => <b>{login}</b> },
    { key: 'account', title: texts.account, cell: user => accountOf(user, texts.platform) },
    { key: 'role', title: texts.role, cell: ({ role }) => (roles as Record<string, string>)[role] ?? role },
    {
      key: 'status',
      title: texts.status,
      cell: ({ disabledAt }) => <StatusBadge of="access" status={disabledAt ? 'disabled' : 'active'} />,
    },
    {
      key: 'since',
      title: texts.since,
      cell: ({ createdAt }) => <DateTime at={createdAt} withTime={false} />,
      isMinor: true,
    },
  ]
  const actions: Column<User> = {
    key: 'actions',
    title: texts.actions,
    align: 'right',
    // Nobody locks themselves out.
    cell: ({ login, disabledAt }) => disabledAt === null && login !== self && <Disable login={login} />,
  }
  return (
    <DataTable
      label={texts.tabs.users}
      columns={mayChange ? [...columns, actions] : columns}
      query={query}
      rows={shown?.rows}
      rowKey={({ userId }) => userId}
      {...(shown && { paging: shown.paging })}
      onSearch={change => setSearch(change as Partial<AccessSearch>)}
      empty={<Empty title={search ? texts.notFound : texts.none} />}
    />
  )
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
  const move = useMove(
    question,
    () => answer(api.POST('/admin/users/{login}/disable', { params: { path: { login } } })),
    useOperatorChanged(),
  )
  return (
    <Button size="xs" variant="subtle" color="red" loading={move.isPending} onClick={move.ask}>
      {texts.disable}
    </Button>
  )
}

function Credentials() {
  const { access: texts } = useTexts(operatorTexts)
  const { role: roles } = useTexts(appTexts)
  const mayChange = useMayChange()
  const { search } = route.useSearch()
  const setSearch = useSetSearch<AccessSearch>()
  const query = useQuery(credentialsQuery)
  const shown = useShown(query.data, each => `${each.label} ${each.clientId} ${accountOf(each, '')}`)
  const columns: Column<Credential>[] = [
    {
      key: 'label',
      title: texts.label,
      cell: ({ label, clientId }) => (
        <Stack gap={0}>
          <b>{label || clientId}</b>
          <span className="figure">{clientId}</span>
        </Stack>
      ),
    },
    { key: 'account', title: texts.account, cell: credential => accountOf(credential, '') },
    { key: 'role', title: texts.role, cell: ({ role }) => (roles as Record<string, string>)[role] ?? role },
    {
      key: 'status',
      title: texts.status,
      cell: ({ revokedAt, previousValidUntil }) => (
        <StatusBadge of="access" status={revokedAt ? 'revoked' : previousValidUntil ? 'expiring' : 'active'} />
      ),
    },
    {
      key: 'since',
      title: texts.since,
      cell: ({ createdAt }) => <DateTime at={createdAt} withTime={false} />,
      isMinor: true,
    },
  ]
  const actions: Column<Credential> = {
    key: 'actions',
    title: texts.actions,
    align: 'right',
    cell: credential => credential.revokedAt === null && <CredentialActions credential={credential} />,
  }
  return (
    <DataTable
      label={texts.tabs.credentials}
      columns={mayChange ? [...columns, actions] : columns}
      query={query}
      rows={shown?.rows}
      rowKey={({ clientId }) => clientId}
      {...(shown && { paging: shown.paging })}
      onSearch={change => setSearch(change as Partial<AccessSearch>)}
      empty={<Empty title={search ? texts.notFound : texts.none} />}
    />
  )
}

function CredentialActions({ credential: { clientId, label } }: { credential: Credential }) {
  const { access: texts } = useTexts(operatorTexts)
  const confirm = useConfirm()
  const notify = useNotify()
  const changed = useOperatorChanged()
  const name = label || clientId
  const rotate = useMutation({
    // It gives nothing back: what a mutation gives is kept for a while.
    async mutationFn() {
      const params = { path: { clientId } }
      const body = { overlap: 'PT24H' }
      showSecret(texts.secretTitle, await answer(api.POST('/admin/credentials/{clientId}/rotate', { params, body })))
    },
    onError: notify.failed,
    onSettled: changed,
  })
  const revoke = useMove(
    {
      title: texts.revokeTitle(name),
      text: texts.revokeText,
      action: texts.revoke,
      isDangerous: true,
      done: texts.revoked,
    },
    () => answer(api.POST('/admin/credentials/{clientId}/revoke', { params: { path: { clientId } } })),
    changed,
  )
  const ask = async () => {
    const question = { title: texts.rotateTitle(name), text: texts.rotateText, action: texts.rotate }
    if (await confirm(question)) rotate.mutate()
  }
  return (
    <Group gap="xs" justify="flex-end">
      <Button size="xs" variant="default" loading={rotate.isPending} onClick={() => void ask()}>
        {texts.rotate}
      </Button>
      <Button size="xs" variant="subtle" color="red" loading={revoke.isPending} onClick={revoke.ask}>
        {texts.revoke}
      </Button>
    </Group>
  )
}
