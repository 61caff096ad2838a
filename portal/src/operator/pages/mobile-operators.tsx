import { Button, Card, Group, NativeSelect, Stack, Switch, Text, Title } from '@mantine/core'
import { modals } from '@mantine/modals'
import { useMutation, useQuery } from '@tanstack/react-query'
import { useFormat, useTexts } from '../../i18n/preferences.tsx'
import { useMayChange } from '../../session/use-session.ts'
import type { Column } from '../../ui/data-table/columns.ts'
import { DataTable } from '../../ui/data-table/data-table.tsx'
import { useNotify } from '../../ui/notify.tsx'
import { PageHeader } from '../../ui/page-header.tsx'
import { Loaded } from '../../ui/states.tsx'
import { StatusBadge } from '../../ui/status-badge.tsx'
import { Money } from '../../ui/values.tsx'
import { TariffForm } from '../parts/tariff-form.tsx'
import { applyEntries, type MobileOperator, partnersQuery, type Tariff, useOperatorChanged } from '../queries.ts'
import { operatorTexts } from '../texts.ts'

const statuses = ['active', 'suspended', 'withdrawn'] as const

/** Mobile operators and their tariffs. */
export function MobileOperatorsPage() {
  const { mobile: texts } = useTexts(operatorTexts)
  const query = useQuery(partnersQuery())
  return (
    <>
      <PageHeader title={texts.title} lead={texts.lead} />
      <Loaded query={query}>
        {({ mobileOperators }) => (
          <Stack gap="xl">
            {mobileOperators.map(operator => (
              <OneOperator key={operator.code} operator={operator} />
            ))}
          </Stack>
        )}
      </Loaded>
    </>
  )
}

/** Applies one operator with these of its tariffs; others stay as they are. */
const applyOperator = (operator: MobileOperator, tariffs: readonly Tariff[]) =>
  applyEntries({ esim: { operators: [{ ...operator, tariffs }] } })

function OneOperator({ operator }: { operator: MobileOperator }) {
  const { mobile: texts } = useTexts(operatorTexts)
  const mayChange = useMayChange()
  const notify = useNotify()
  const changed = useOperatorChanged()
  const query = useQuery(partnersQuery())
  const setStatus = useMutation({
    mutationFn: (status: (typeof statuses)[number]) => applyOperator({ ...operator, status }, operator.tariffs),
    onSuccess: () => notify.done(texts.changed(operator.nameUk)),
    onError: notify.failed,
    onSettled: changed,
  })
  const add = () =>
    modals.open({
      title: texts.add,
      children: <TariffForm onSave={tariff => applyOperator(operator, [...operator.tariffs, tariff])} />,
    })
  return (
    <Card component="section" aria-label={operator.nameUk}>
      <Group justify="space-between" mb="md">
        <Group gap="sm">
          <Title order={2}>{operator.nameUk}</Title>
          <StatusBadge of="partner" status={operator.status} />
        </Group>
        {mayChange && (
          <Group gap="sm">
            <NativeSelect
              aria-label={`${texts.status}: ${operator.nameUk}`}
              data={statuses.map(value => ({ value, label: texts.statuses[value] }))}
              value={operator.status}
              disabled={setStatus.isPending}
              onChange={({ currentTarget }) => {
                const status = statuses.find(each => each === currentTarget.value)
                if (status) setStatus.mutate(status)
              }}
            />
            <Button variant="default" onClick={add}>
              {texts.add}
            </Button>
          </Group>
        )}
      </Group>
      <DataTable
        label={operator.nameUk}
        columns={useColumns(operator)}
        query={query}
        rows={operator.tariffs}
        rowKey={({ code }) => code}
      />
    </Card>
  )
}

function useColumns(operator: MobileOperator): Column<Tariff>[] {
  const { mobile: texts } = useTexts(operatorTexts)
  const format = useFormat()
  const mayChange = useMayChange()
  const replaced = (tariff: Tariff) => operator.tariffs.map(each => (each.code === tariff.code ? tariff : each))
  const edit = (tariff: Tariff) =>
    modals.open({
      title: tariff.name,
      children: <TariffForm tariff={tariff} onSave={changed => applyOperator(operator, replaced(changed))} />,
    })
  const columns: Column<Tariff>[] = [
    {
      key: 'name',
      title: texts.tariff,
      cell: ({ name, code }) => (
        <Stack gap={0}>
          <Text fw={600}>{name}</Text>
          <Text size="sm" c="dimmed">
            {code}
          </Text>
        </Stack>
      ),
    },
    { key: 'content', title: texts.content, cell: tariff => <Content tariff={tariff} /> },
    { key: 'validity', title: texts.validity, cell: ({ validityDays }) => texts.days(format.number(validityDays)) },
    {
      key: 'price',
      title: texts.price,
      align: 'right',
      cell: ({ price, currency }) => <Money amount={price} currency={currency} />,
    },
    { key: 'onSale', title: texts.onSale, cell: tariff => <OnSale operator={operator} tariff={tariff} /> },
  ]
  if (!mayChange) return columns
  return [
    ...columns,
    {
      key: 'actions',
      title: '',
      cell: tariff => (
        <Button size="xs" variant="default" onClick={() => edit(tariff)}>
          {texts.edit}
        </Button>
      ),
    },
  ]
}

function Content({ tariff }: { tariff: Tariff }) {
  const { mobile: texts } = useTexts(operatorTexts)
  const format = useFormat()
  const { dataVolumeMb, dataUnlimited, voiceMinutes, voiceUnlimited, smsCount, smsUnlimited } = tariff
  const parts = [
    dataUnlimited ? texts.unlimitedData : dataVolumeMb > 0 && texts.data(format.number(dataVolumeMb / 1024)),
    voiceUnlimited ? texts.unlimitedVoice : voiceMinutes > 0 && texts.minutes(format.number(voiceMinutes)),
    smsUnlimited ? texts.unlimitedSms : smsCount > 0 && texts.sms(format.number(smsCount)),
  ]
  return parts.filter(Boolean).join(', ')
}

function OnSale({ operator, tariff }: { operator: MobileOperator; tariff: Tariff }) {
  const { mobile: texts } = useTexts(operatorTexts)
  const mayChange = useMayChange()
  const notify = useNotify()
  const changed = useOperatorChanged()
  const turn = useMutation({
    mutationFn: (onSale: boolean) =>
      applyOperator(
        operator,
        operator.tariffs.map(each => (each.code === tariff.code ? { ...each, onSale } : each)),
      ),
    onSuccess: (_, onSale) => notify.done((onSale ? texts.switchedOn : texts.switchedOff)(tariff.name)),
    onError: notify.failed,
    onSettled: changed,
  })
  return (
    <Switch
      aria-label={`${texts.onSale}: ${tariff.name}`}
      checked={tariff.onSale}
      disabled={!mayChange || turn.isPending}
      onChange={({ currentTarget }) => turn.mutate(currentTarget.checked)}
    />
  )
}
