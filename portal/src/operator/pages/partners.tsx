import { Button, Group, Stack, Tabs, Text } from '@mantine/core'
import { modals } from '@mantine/modals'
import { useMutation, useQuery } from '@tanstack/react-query'
import { getRouteApi } from '@tanstack/react-router'
import { useTexts } from '../../i18n/preferences.tsx'
import { useMayChange } from '../../session/use-session.ts'
import { useConfirm } from '../../ui/confirm.tsx'
import type { Column } from '../../ui/data-table/columns.ts'
import { DataTable } from '../../ui/data-table/data-table.tsx'
import { useSetSearch } from '../../ui/data-table/use-table-search.ts'
import { useNotify } from '../../ui/notify.tsx'
import { PageHeader } from '../../ui/page-header.tsx'
import { SearchInput } from '../../ui/search-input.tsx'
import { Empty } from '../../ui/states.tsx'
import { StatusBadge } from '../../ui/status-badge.tsx'
import { Count } from '../../ui/values.tsx'
import { BankForm, MerchantForm } from '../parts/partner-forms.tsx'
import { applyEntry, type Bank, type Merchant, partnersQuery, useOperatorChanged } from '../queries.ts'
import type { PartnersSearch } from '../search.ts'
import { operatorTexts } from '../texts.ts'

const route = getRouteApi('/signed-in/operator/partners')

/** Banks and merchants: adding and changing them, and suspending one. */
export function PartnersPage() {
  const { partners: texts } = useTexts(operatorTexts)
  const { tab = 'banks' } = route.useSearch()
  const setSearch = useSetSearch<PartnersSearch>()
  const mayChange = useMayChange()
  const add = () =>
    tab === 'banks'
      ? modals.open({ title: texts.addBank, children: <BankForm /> })
      : modals.open({ title: texts.addMerchant, children: <MerchantForm /> })
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
  const query = useQuery(partnersQuery())
  const mayChange = useMayChange()
  const columns: Column<Bank>[] = [
    { key: 'name', title: texts.name, cell: ({ entry }) => <Name {...entry} /> },
    { key: 'status', title: texts.status, cell: ({ entry }) => <StatusBadge of="partner" status={entry.status} /> },
    { key: 'delivery', title: texts.delivery, cell: ({ entry }) => texts.deliveryModes[entry.esim.deliveryMode] },
    {
      key: 'operators',
      title: texts.operators,
      cell: ({ entry: { esim } }) =>
        esim.operators === 'all' ? texts.allOperators : esim.operators.join(', ') || texts.none,
      isMinor: true,
    },
    { key: 'access', title: texts.access, cell: bank => <Access {...bank} />, isMinor: true },
  ]
  const actions: Column<Bank> = {
    key: 'actions',
    title: texts.actions,
    align: 'right',
    cell: ({ entry }) => (
      <Actions
        kind="banks"
        entry={entry}
        onEdit={() => modals.open({ title: entry.name, children: <BankForm entry={entry} /> })}
      />
    ),
  }
  return (
    <DataTable
      label={texts.tabs.banks}
      columns={mayChange ? [...columns, actions] : columns}
      query={query}
      rows={query.data?.banks}
      rowKey={({ entry }) => entry.id}
    />
  )
}

function Merchants() {
  const { partners: texts } = useTexts(operatorTexts)
  const search = route.useSearch()
  const setSearch = useSetSearch<PartnersSearch>()
  const query = useQuery(partnersQuery(search))
  const mayChange = useMayChange()
  const columns: Column<Merchant>[] = [
    { key: 'name', title: texts.name, cell: ({ entry }) => <Name {...entry} /> },
    { key: 'status', title: texts.status, cell: ({ entry }) => <StatusBadge of="partner" status={entry.status} /> },
    { key: 'terminals', title: texts.terminals, align: 'right', cell: ({ terminals }) => <Count value={terminals} /> },
    {
      key: 'excluded',
      title: texts.excluded,
      cell: ({ entry }) => entry.excludedBanks.join(', ') || texts.none,
      isMinor: true,
    },
    { key: 'access', title: texts.access, cell: merchant => <Access {...merchant} />, isMinor: true },
  ]
  const actions: Column<Merchant> = {
    key: 'actions',
    title: texts.actions,
    align: 'right',
    cell: ({ entry }) => (
      <Actions
        kind="merchants"
        entry={entry}
        onEdit={() => modals.open({ title: entry.name, children: <MerchantForm entry={entry} /> })}
      />
    ),
  }
  return (
    <Stack gap="md">
      <Group>
        <SearchInput label={texts.search} value={search.search} onChange={words => setSearch({ search: words })} />
      </Group>
      <DataTable
        label={texts.tabs.merchants}
        columns={mayChange ? [...columns, actions] : columns}
        query={query}
        rows={query.data?.merchants.data}
        rowKey={({ entry }) => entry.id}
        {...(query.data && { paging: query.data.merchants.pagination })}
        onSearch={change => setSearch(change as Partial<PartnersSearch>)}
        empty={<Empty title={texts.notFound} />}
      />
    </Stack>
  )
}

function Name({ name, code }: { name: string; code: string }) {
  return (
    <Stack gap={0}>
      <Text fw={600}>{name}</Text>
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

function Actions(props: {
  kind: 'banks' | 'merchants'
  entry: { name: string; status: 'active' | 'suspended' }
  onEdit: () => void
}) {
  const { kind, entry, onEdit } = props
  const { partners: texts } = useTexts(operatorTexts)
  const confirm = useConfirm()
  const notify = useNotify()
  const changed = useOperatorChanged()
  const isActive = entry.status === 'active'
  const turn = useMutation({
    mutationFn: () => applyEntry({ [kind]: [{ ...entry, status: isActive ? 'suspended' : 'active' }] }),
    onSuccess: () => notify.done((isActive ? texts.suspended : texts.resumed)(entry.name)),
    onError: notify.failed,
    onSettled: changed,
  })
  const ask = async () => {
    const question = {
      title: texts.suspendTitle(entry.name),
      text: texts.suspendText,
      action: texts.suspend,
      isDangerous: true,
    }
    if (!isActive || (await confirm(question))) turn.mutate()
  }
  return (
    <Group gap="xs" justify="flex-end">
      <Button size="xs" variant="default" onClick={onEdit}>
        {texts.edit}
      </Button>
      <Button
        size="xs"
        variant="subtle"
        color={isActive ? 'red' : 'perk'}
        loading={turn.isPending}
        onClick={() => void ask()}
      >
        {isActive ? texts.suspend : texts.resume}
      </Button>
    </Group>
  )
}
