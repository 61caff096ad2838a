import { Alert, Button, Group, Select, Stack, Text, TextInput } from '@mantine/core'
import { useForm } from '@mantine/form'
import { modals } from '@mantine/modals'
import { useMutation, useQuery } from '@tanstack/react-query'
import { getRouteApi } from '@tanstack/react-router'
import { answer, api } from '../../api/client.ts'
import { useFormat, useTexts } from '../../i18n/preferences.tsx'
import { useFreshFactor } from '../../session/fresh-factor.tsx'
import { rolesOfBankSystems } from '../../session/rights.ts'
import { sessionTexts } from '../../session/texts.ts'
import { useConfirm } from '../../ui/confirm.tsx'
import type { Column } from '../../ui/data-table/columns.ts'
import { DataTable } from '../../ui/data-table/data-table.tsx'
import { foundPage } from '../../ui/data-table/found-page.ts'
import { useSetSearch } from '../../ui/data-table/use-table-search.ts'
import { FormFrame } from '../../ui/form-frame.tsx'
import { useNotify } from '../../ui/notify.tsx'
import { oldSecretUntil } from '../../ui/old-secret.ts'
import { showOnce } from '../../ui/once-shown.tsx'
import { PageHeader } from '../../ui/page-header.tsx'
import { SearchInput } from '../../ui/search-input.tsx'
import { Empty } from '../../ui/states.tsx'
import { StatusBadge } from '../../ui/status-badge.tsx'
import { useCreation } from '../../ui/use-creation.tsx'
import { useFieldErrors } from '../../ui/use-field-errors.ts'
import { DateTime } from '../../ui/values.tsx'
import { AccountChoice, ChooseFirst, type ChosenAccount, useChosenAccount } from '../components/account-choice.tsx'
import { type OwnCredential, ownCredentialsQuery, useAccountChanged } from '../queries.ts'
import type { AccountListSearch } from '../search.ts'
import { accountTexts } from '../texts.ts'

const route = getRouteApi('/signed-in/account/credentials')
/** Where a credential is issued. */
const issuePath = '/portal/credentials'

/** The credentials of the account's systems. */
export function OwnCredentialsPage() {
  const texts = useTexts(accountTexts).credentials
  const search = route.useSearch()
  const account = useChosenAccount(search)
  const issue = (chosen: ChosenAccount) => modals.open({ title: texts.issue, children: <IssueForm {...chosen} /> })
  return (
    <>
      <PageHeader
        title={texts.title}
        lead={texts.lead}
        actions={
          // The platform has no systems of its own.
          account && account.typeAccount !== 'platform' && <Button onClick={() => issue(account)}>{texts.issue}</Button>
        }
      />
      <AccountChoice search={search} />
      {account ? <Credentials account={account} /> : <ChooseFirst />}
    </>
  )
}

function Credentials({ account }: { account: ChosenAccount }) {
  const { credentials: texts, choice } = useTexts(accountTexts)
  const { noSystems } = choice
  const roles: Record<string, string> = useTexts(sessionTexts).role
  const search = route.useSearch()
  const setSearch = useSetSearch<AccountListSearch>()
  const isPlatform = account.typeAccount === 'platform'
  const query = useQuery(ownCredentialsQuery(account.named))
  const shown = foundPage(query.data, search, ({ label, clientId }) => `${label} ${clientId}`)
  const columns: Column<OwnCredential>[] = [
    {
      key: 'label',
      title: texts.label,
      cell: ({ label, clientId }) => (
        <>
          <Text fw={600}>{label || clientId}</Text>
          {label && (
            <Text size="sm" c="dimmed">
              {clientId}
            </Text>
          )}
        </>
      ),
    },
    { key: 'role', title: texts.role, cell: ({ role }) => roles[role] ?? role },
    { key: 'by', title: texts.by, cell: ({ issuedBy }) => issuedBy ?? texts.operator },
    {
      key: 'used',
      title: texts.used,
      cell: ({ lastUsedAt }) => (lastUsedAt ? <DateTime at={lastUsedAt} /> : texts.never),
    },
    {
      key: 'status',
      title: texts.status,
      cell: credential => <Status {...credential} />,
    },
    {
      key: 'actions',
      title: texts.actions,
      align: 'right',
      cell: credential => credential.revokedAt === null && <Actions {...credential} />,
    },
  ]
  return (
    <>
      {!isPlatform && (
        <Group mb="md">
          <SearchInput label={texts.search} value={search.search} onChange={words => setSearch({ search: words })} />
        </Group>
      )}
      <DataTable
        label={texts.title}
        columns={columns}
        query={query}
        rows={shown?.rows}
        rowKey={({ clientId }) => clientId}
        {...(shown && { paging: shown.paging })}
        onSearch={({ page }) => setSearch({ page })}
        empty={<Empty title={isPlatform ? noSystems : search.search ? texts.notFound : texts.none} />}
      />
    </>
  )
}

function Status({ revokedAt, previousValidUntil }: OwnCredential) {
  const texts = useTexts(accountTexts).credentials
  const overlap = oldSecretUntil({ previousValidUntil })
  return (
    <Stack gap={2} align="flex-start">
      <StatusBadge of="access" status={revokedAt ? 'revoked' : 'active'} />
      {overlap && !revokedAt && (
        <Text size="sm" c="dimmed">
          {texts.oldUntil} <DateTime at={overlap} />
        </Text>
      )}
    </Stack>
  )
}

type Issued = { clientId: string; secret: string }

function useShowSecret(): (issued: Issued) => void {
  const texts = useTexts(accountTexts).credentials
  return ({ clientId, secret }) => {
    showOnce(texts.secretTitle, texts.secretText, [
      { label: texts.clientId, value: clientId },
      { label: texts.secret, value: secret },
    ])
  }
}

function IssueForm({ named, typeAccount }: ChosenAccount) {
  const isBank = typeAccount === 'bank'
  const texts = useTexts(accountTexts).credentials
  const roles: Record<string, string> = useTexts(sessionTexts).role
  const fresh = useFreshFactor()
  const onSuccess = useShowSecret()
  const changed = useAccountChanged()
  const form = useForm({ initialValues: { label: '', role: 'EDITOR' as (typeof rolesOfBankSystems)[number] } })
  const { place, clear, rest } = useFieldErrors(form, ['label', 'role'])
  const creation = useCreation({ path: issuePath, query: named, texts: texts.lostAnswer })
  const issue = useMutation({
    mutationFn({ label, role }: typeof form.values) {
      const body = { label: label.trim(), ...(isBank && { role }) }
      return creation.create(body, () => fresh(() => answer(api.POST(issuePath, { params: { query: named }, body }))))
    },
    onSuccess,
    onMutate: clear,
    onError: place,
    // Reads the list again even after an error, because the credential may exist although the answer got lost.
    onSettled: changed,
  })
  return (
    <FormFrame
      action={texts.issue}
      rest={rest}
      notice={creation.notice}
      isPending={issue.isPending}
      onSubmit={form.onSubmit(values => issue.mutate(values))}
    >
      <TextInput data-autofocus label={texts.label} maxLength={200} {...form.getInputProps('label')} />
      {isBank && (
        <Select
          label={texts.role}
          allowDeselect={false}
          data={rolesOfBankSystems.map(value => ({ value, label: roles[value] ?? value }))}
          {...form.getInputProps('role')}
        />
      )}
    </FormFrame>
  )
}

function Actions({ clientId, label, previousValidUntil }: OwnCredential) {
  const texts = useTexts(accountTexts).credentials
  const name = label || clientId
  const overlap = oldSecretUntil({ previousValidUntil })
  const format = useFormat()
  const fresh = useFreshFactor()
  const confirm = useConfirm()
  const notify = useNotify()
  const changed = useAccountChanged()
  const onSecret = useShowSecret()
  const path = { params: { path: { clientId } } }
  // Reads the credentials again, because somebody else may have revoked this one.
  const onError = (error: unknown) => {
    void changed()
    notify.failed(error)
  }
  const rotate = useMutation({
    mutationFn: () =>
      fresh(() => answer(api.POST('/portal/credentials/{clientId}/rotate', { ...path, body: { overlap: 'PT24H' } }))),
    onSuccess: onSecret,
    onError: notify.failed,
    onSettled: changed,
  })
  const revoke = useMutation({
    mutationFn: () => api.POST('/portal/credentials/{clientId}/revoke', path),
    onSuccess() {
      notify.done(texts.revoked(name))
      return changed()
    },
    onError,
  })
  const askToRotate = async () => {
    const text = (
      <Stack>
        <Text>{texts.rotateText}</Text>
        {overlap && <Alert color="orange">{texts.rotateTwice(format.dateTime(overlap))}</Alert>}
      </Stack>
    )
    const question = { title: texts.rotateTitle(name), text, action: texts.rotate }
    if (await confirm(question)) rotate.mutate()
  }
  const askToRevoke = async () => {
    const question = { title: texts.revokeTitle(name), text: texts.revokeText, action: texts.revoke, isDangerous: true }
    if (await confirm(question)) revoke.mutate()
  }
  return (
    <Group gap="xs" justify="flex-end">
      <Button
        variant="default"
        size="compact-md"
        aria-label={`${texts.rotate}: ${name}`}
        loading={rotate.isPending}
        onClick={() => void askToRotate()}
      >
        {texts.rotate}
      </Button>
      <Button
        variant="subtle"
        color="red"
        size="compact-md"
        aria-label={`${texts.revoke}: ${name}`}
        loading={revoke.isPending}
        onClick={() => void askToRevoke()}
      >
        {texts.revoke}
      </Button>
    </Group>
  )
}
