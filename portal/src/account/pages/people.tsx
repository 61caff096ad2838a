import { Badge, Button, Group, Stack, Text } from '@mantine/core'
import { modals } from '@mantine/modals'
import { useQuery } from '@tanstack/react-query'
import { getRouteApi } from '@tanstack/react-router'
import { useTexts } from '../../i18n/preferences.tsx'
import { InviteForm } from '../../people/invite-form.tsx'
import { inviteTexts } from '../../people/texts.ts'
import type { Column } from '../../ui/data-table/columns.ts'
import { DataTable } from '../../ui/data-table/data-table.tsx'
import { foundPage } from '../../ui/data-table/found-page.ts'
import { useSetSearch } from '../../ui/data-table/use-table-search.ts'
import { PageHeader } from '../../ui/page-header.tsx'
import { SearchInput } from '../../ui/search-input.tsx'
import { Empty } from '../../ui/states.tsx'
import { DateTime } from '../../ui/values.tsx'
import {
  AccountChoice,
  ChooseFirst,
  type ChosenAccount,
  useAccountName,
  useChosenAccount,
} from '../components/account-choice.tsx'
import { PersonActions, useRoleTexts } from '../components/person-actions.tsx'
import { type Person, peopleQuery } from '../queries.ts'
import type { AccountListSearch } from '../search.ts'
import { accountTexts } from '../texts.ts'

const route = getRouteApi('/signed-in/account/people')
const colourOf = { invited: 'blue', active: 'perk', disabled: 'gray' }

/** Shows the people of the account and their roles. Managers can invite, change and disable people. */
export function PeoplePage() {
  const texts = useTexts(accountTexts).people
  const inviting = useTexts(inviteTexts)
  const search = route.useSearch()
  const account = useChosenAccount(search)
  const accountName = useAccountName(search)
  const invite = (chosen: ChosenAccount) =>
    modals.open({ title: inviting.title(accountName), children: <InviteForm {...chosen} /> })
  return (
    <>
      <PageHeader
        title={texts.title}
        lead={texts.lead}
        actions={account && <Button onClick={() => invite(account)}>{inviting.invite}</Button>}
      />
      <AccountChoice search={search} />
      {account ? <People account={account} /> : <ChooseFirst />}
    </>
  )
}

function People({ account }: { account: ChosenAccount }) {
  const texts = useTexts(accountTexts).people
  const roles = useRoleTexts()
  const search = route.useSearch()
  const setSearch = useSetSearch<AccountListSearch>()
  const query = useQuery(peopleQuery(account.named))
  const shown = foundPage(query.data, search, ({ login, email }) => `${login} ${email ?? ''}`)
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
    { key: 'factor', title: texts.factor, cell: ({ mfa }) => (mfa.length > 0 ? texts.on : texts.off) },
    {
      key: 'seen',
      title: texts.seen,
      cell: ({ lastSeenAt }) => (lastSeenAt ? <DateTime at={lastSeenAt} /> : texts.never),
    },
    {
      key: 'actions',
      title: texts.actions,
      align: 'right',
      cell: person => <PersonActions person={person} account={account} />,
    },
  ]
  return (
    <>
      <Group mb="md">
        <SearchInput label={texts.search} value={search.search} onChange={words => setSearch({ search: words })} />
      </Group>
      <DataTable
        label={texts.title}
        columns={columns}
        query={query}
        rows={shown?.rows}
        rowKey={({ userId }) => userId}
        {...(shown && { paging: shown.paging })}
        onSearch={({ page }) => setSearch({ page })}
        empty={<Empty title={texts.notFound} />}
      />
    </>
  )
}
