import { Button, Group, Tabs } from '@mantine/core'
import { modals } from '@mantine/modals'
import { useQuery } from '@tanstack/react-query'
import { getRouteApi } from '@tanstack/react-router'
import { useTexts } from '../../i18n/preferences.tsx'
import { useMayChange } from '../../session/use-session.ts'
import { foundPage } from '../../ui/data-table/found-page.ts'
import { useSetSearch } from '../../ui/data-table/use-table-search.ts'
import { LinkButton } from '../../ui/links.tsx'
import { PageHeader } from '../../ui/page-header.tsx'
import { SearchInput } from '../../ui/search-input.tsx'
import { Empty } from '../../ui/states.tsx'
import { accountOf, CredentialsTable, UsersTable } from '../components/access-tables.tsx'
import { CredentialForm } from '../components/credential-form.tsx'
import { credentialsQuery, usersQuery } from '../queries.ts'
import type { AccessSearch } from '../search.ts'
import { operatorTexts } from '../texts.ts'

const route = getRouteApi('/signed-in/operator/access')

/** Portal users and credentials. */
export function AccessPage() {
  const { access: texts } = useTexts(operatorTexts)
  const { tab = 'users', search } = route.useSearch()
  const setSearch = useSetSearch<AccessSearch>()
  const mayChange = useMayChange()
  const issue = () => modals.open({ title: texts.issue, children: <CredentialForm /> })
  // The page People asks whom the invitation is for, and shows the invitations that wait.
  const action =
    tab === 'users' ? (
      <LinkButton to="/account/people" search={{ kind: 'bank' }}>
        {texts.toInvite}
      </LinkButton>
    ) : (
      <Button onClick={issue}>{texts.issue}</Button>
    )
  return (
    <>
      <PageHeader title={texts.title} lead={texts.lead} actions={mayChange && action} />
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

/** The rows that contain the searched words, newest first, page by page. */
function useShown<Row extends { createdAt: string }>(rows: readonly Row[] | undefined, textOf: (row: Row) => string) {
  const newestFirst = rows?.toSorted((one, other) => one.createdAt.localeCompare(other.createdAt)).reverse()
  return foundPage(newestFirst, route.useSearch(), textOf)
}

function Users() {
  const { access: texts } = useTexts(operatorTexts)
  const { search } = route.useSearch()
  const setSearch = useSetSearch<AccessSearch>()
  const query = useQuery(usersQuery())
  const shown = useShown(query.data, user => `${user.login} ${accountOf(user, texts.platform)}`)
  return (
    <UsersTable
      hasAccount
      query={query}
      rows={shown?.rows}
      {...(shown && { paging: shown.paging })}
      onSearch={change => setSearch(change as Partial<AccessSearch>)}
      empty={<Empty title={search ? texts.notFound : texts.none} />}
    />
  )
}

function Credentials() {
  const { access: texts } = useTexts(operatorTexts)
  const { search } = route.useSearch()
  const setSearch = useSetSearch<AccessSearch>()
  const query = useQuery(credentialsQuery())
  const shown = useShown(query.data, each => `${each.label} ${each.clientId} ${accountOf(each, '')}`)
  return (
    <CredentialsTable
      hasAccount
      query={query}
      rows={shown?.rows}
      {...(shown && { paging: shown.paging })}
      onSearch={change => setSearch(change as Partial<AccessSearch>)}
      empty={<Empty title={search ? texts.notFound : texts.noCredentials} />}
    />
  )
}
