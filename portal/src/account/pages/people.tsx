import { Badge, Button, Group, Select, Stack, Text, TextInput } from '@mantine/core'
import { useForm } from '@mantine/form'
import { modals } from '@mantine/modals'
import { useMutation, useQuery } from '@tanstack/react-query'
import { getRouteApi } from '@tanstack/react-router'
import { answer, api } from '../../api/client.ts'
import { useTexts } from '../../i18n/preferences.tsx'
import { useFreshFactor } from '../../session/fresh-factor.tsx'
import { rolesOf } from '../../session/rights.ts'
import type { Column } from '../../ui/data-table/columns.ts'
import { DataTable } from '../../ui/data-table/data-table.tsx'
import { foundPage } from '../../ui/data-table/found-page.ts'
import { useSetSearch } from '../../ui/data-table/use-table-search.ts'
import { useNotify } from '../../ui/notify.tsx'
import { showOnce } from '../../ui/once-shown.tsx'
import { PageHeader } from '../../ui/page-header.tsx'
import { SearchInput } from '../../ui/search-input.tsx'
import { Empty, Failure } from '../../ui/states.tsx'
import { useFieldErrors } from '../../ui/use-field-errors.ts'
import { DateTime } from '../../ui/values.tsx'
import {
  AccountChoice,
  ChooseFirst,
  type ChosenAccount,
  useAccountName,
  useChosenAccount,
} from '../components/account-choice.tsx'
import { PersonActions, useRoleTexts } from '../components/person-actions.tsx'
import { type Person, peopleQuery, useAccountChanged } from '../queries.ts'
import type { AccountListSearch } from '../search.ts'
import { accountTexts } from '../texts.ts'

const route = getRouteApi('/signed-in/account/people')
const colourOf = { invited: 'blue', active: 'perk', disabled: 'gray' }

/** Shows the people of the account and their roles. Managers can invite, change and disable people. */
export function PeoplePage() {
  const texts = useTexts(accountTexts).people
  const search = route.useSearch()
  const account = useChosenAccount(search)
  const accountName = useAccountName(search)
  const invite = (chosen: ChosenAccount) =>
    modals.open({ title: texts.inviteTitle(accountName), children: <InviteForm {...chosen} /> })
  return (
    <>
      <PageHeader
        title={texts.title}
        lead={texts.lead}
        actions={account && <Button onClick={() => invite(account)}>{texts.invite}</Button>}
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

function InviteForm({ named, typeAccount }: ChosenAccount) {
  const offered: readonly string[] = rolesOf({ typeAccount })
  const texts = useTexts(accountTexts).people
  const roles = useRoleTexts()
  const fresh = useFreshFactor()
  const changed = useAccountChanged()
  const notify = useNotify()
  const form = useForm({ initialValues: { login: '', email: '', role: offered.at(-1) ?? '' } })
  const { place, clear, rest } = useFieldErrors(form, ['login', 'email', 'role'])
  const invite = useMutation({
    mutationFn: ({ login, email, role }: { login: string; email: string; role: string }) => {
      const body = { login: login.trim(), role, ...(email.trim() !== '' && { email: email.trim() }) }
      return fresh(() => answer(api.POST('/portal/invitations', { params: { query: named }, body })))
    },
    onSuccess({ link }) {
      modals.closeAll()
      if (link === undefined) notify.done(texts.invited)
      else showOnce(texts.linkTitle, texts.linkText, [{ label: texts.link, value: link }])
    },
    onMutate: clear,
    onError: place,
    // Reads the list again even after an error, because the person may be invited although the answer got lost.
    onSettled: changed,
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
