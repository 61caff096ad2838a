import { Button, Group, Stack, Tabs, Text } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { getRouteApi, useNavigate } from '@tanstack/react-router'
import { useFormat, useNames, useTexts } from '../../i18n/preferences.tsx'
import { useMayChange } from '../../session/use-session.ts'
import type { Column } from '../../ui/data-table/columns.ts'
import { DataTable } from '../../ui/data-table/data-table.tsx'
import { foundPage } from '../../ui/data-table/found-page.ts'
import { useSetSearch } from '../../ui/data-table/use-table-search.ts'
import { LinkAnchor } from '../../ui/links.tsx'
import { PageHeader } from '../../ui/page-header.tsx'
import { SearchInput } from '../../ui/search-input.tsx'
import { Empty } from '../../ui/states.tsx'
import { StatusBadge } from '../../ui/status-badge.tsx'
import { Count } from '../../ui/values.tsx'
import { openOnboarding } from '../components/onboarding.tsx'
import { useBankNames } from '../components/partner-select.tsx'
import { type Bank, type Merchant, partnersQuery } from '../queries.ts'
import type { PartnersSearch } from '../search.ts'
import { operatorTexts } from '../texts.ts'

const route = getRouteApi('/signed-in/operator/partners')

/** Banks and merchants; each row leads to the partner’s page. */
export function PartnersPage() {
  const { partners: texts } = useTexts(operatorTexts)
  const { tab = 'banks' } = route.useSearch()
  const setSearch = useSetSearch<PartnersSearch>()
  const mayChange = useMayChange()
  const navigate = useNavigate()
  const show = (code: string) => void navigate({ to: '/operator/partners/$kind/$code', params: { kind: tab, code } })
  const add = () =>
    tab === 'banks' ? openOnboarding('bank', texts.addBank, show) : openOnboarding('merchant', texts.addMerchant, show)
  return (
    <>
      <PageHeader
        title={texts.title}
        lead={texts.lead}
        actions={mayChange && <Button onClick={add}>{tab === 'banks' ? texts.addBank : texts.addMerchant}</Button>}
      />
      <Tabs
        value={tab}
        onChange={value => setSearch({ tab: value === 'merchants' ? value : undefined, search: undefined })}
        keepMounted={false}
      >
        <Tabs.List mb="lg">
          <Tabs.Tab value="banks">{texts.tabs.banks}</Tabs.Tab>
          <Tabs.Tab value="merchants">{texts.tabs.merchants}</Tabs.Tab>
        </Tabs.List>
        <Tabs.Panel value="banks">
          <Banks />
        </Tabs.Panel>
        <Tabs.Panel value="merchants">
          <Merchants />
        </Tabs.Panel>
      </Tabs>
    </>
  )
}

function Banks() {
  const { partners: texts } = useTexts(operatorTexts)
  const names = useNames()
  const format = useFormat()
  const search = route.useSearch()
  const setSearch = useSetSearch<PartnersSearch>()
  const query = useQuery(partnersQuery())
  const shown = foundPage(query.data?.banks, search, ({ entry }) => `${entry.name}\n${entry.code}`)
  const nameOf = (code: string) => {
    const operator = query.data?.mobileOperators.find(each => each.code === code)
    return operator ? names.of(operator) : code
  }
  const columns: Column<Bank>[] = [
    { key: 'name', title: texts.name, cell: ({ entry }) => <Name kind="banks" code={entry.code} name={entry.name} /> },
    { key: 'status', title: texts.status, cell: ({ entry }) => <StatusBadge of="partner" status={entry.status} /> },
    { key: 'delivery', title: texts.delivery, cell: ({ entry }) => texts.deliveryModes[entry.esim.deliveryMode] },
    {
      key: 'operators',
      title: texts.operators,
      cell: ({ entry: { esim } }) =>
        esim.operators === 'all' ? texts.allOperators : format.list(esim.operators.map(nameOf)) || texts.none,
      isMinor: true,
    },
    { key: 'access', title: texts.access, cell: bank => <Access {...bank} />, isMinor: true },
  ]
  return (
    <Stack gap="md">
      <Search kind="banks" words={search.search} />
      <DataTable
        label={texts.tabs.banks}
        columns={columns}
        query={query}
        rows={shown?.rows}
        rowKey={({ entry }) => entry.id}
        {...(shown && { paging: shown.paging })}
        onSearch={({ page }) => setSearch({ page })}
        {...(search.search && { empty: <Empty title={texts.notFound.banks} /> })}
      />
    </Stack>
  )
}

function Merchants() {
  const { partners: texts } = useTexts(operatorTexts)
  const names = useNames()
  const search = route.useSearch()
  const setSearch = useSetSearch<PartnersSearch>()
  const query = useQuery(partnersQuery(search))
  const bankNames = useBankNames()
  const columns: Column<Merchant>[] = [
    {
      key: 'name',
      title: texts.name,
      cell: ({ entry }) => <Name kind="merchants" code={entry.code} name={names.of(entry)} />,
    },
    { key: 'status', title: texts.status, cell: ({ entry }) => <StatusBadge of="partner" status={entry.status} /> },
    { key: 'terminals', title: texts.terminals, align: 'right', cell: ({ terminals }) => <Count value={terminals} /> },
    {
      key: 'excluded',
      title: texts.excluded,
      cell: ({ entry }) => bankNames(entry.excludedBanks) || texts.none,
      isMinor: true,
    },
    { key: 'access', title: texts.access, cell: merchant => <Access {...merchant} />, isMinor: true },
  ]
  return (
    <Stack gap="md">
      <Search kind="merchants" words={search.search} />
      <DataTable
        label={texts.tabs.merchants}
        columns={columns}
        query={query}
        rows={query.data?.merchants.data}
        rowKey={({ entry }) => entry.id}
        {...(query.data && { paging: query.data.merchants.pagination })}
        onSearch={change => setSearch(change as Partial<PartnersSearch>)}
        empty={<Empty title={texts.notFound.merchants} />}
      />
    </Stack>
  )
}

function Search({ kind, words }: { kind: 'banks' | 'merchants'; words: string | undefined }) {
  const { partners: texts } = useTexts(operatorTexts)
  const setSearch = useSetSearch<PartnersSearch>()
  return (
    <Group>
      <SearchInput label={texts.search[kind]} value={words} onChange={search => setSearch({ search })} />
    </Group>
  )
}

function Name({ kind, name, code }: { kind: 'banks' | 'merchants'; name: string; code: string }) {
  return (
    <Stack gap={0}>
      <LinkAnchor to="/operator/partners/$kind/$code" params={{ kind, code }} fw={600} c="inherit">
        {name}
      </LinkAnchor>
      <Text size="sm" c="dimmed">
        {code}
      </Text>
    </Stack>
  )
}

function Access({ users, credentials }: { users: number; credentials: number }) {
  const { partners: texts } = useTexts(operatorTexts)
  return texts.accessOf(users, credentials)
}
