import { Badge, Stack, Text, Title } from '@mantine/core'
import { IconBan, IconCircleCheck } from '@tabler/icons-react'
import { useQuery } from '@tanstack/react-query'
import { useFormat, useNames, useTexts } from '../../i18n/preferences.tsx'
import type { Column } from '../../ui/data-table/columns.ts'
import { DataTable } from '../../ui/data-table/data-table.tsx'
import { PageHeader } from '../../ui/page-header.tsx'
import { Empty, Loaded } from '../../ui/states.tsx'
import { Money, none } from '../../ui/values.tsx'
import { esimTexts } from '../esim-texts.ts'
import { stockQuery } from '../queries.ts'
import type { StockOperator } from '../types.ts'

type Tariff = StockOperator['tariffs'][number]
type Query = Parameters<typeof DataTable>[0]['query']

/**
 * The tariffs that the bank may sell and whether they are available, as the catalogue shows them to the bank's systems.
 */
export function TariffsPage() {
  const { stock: texts } = useTexts(esimTexts)
  const query = useQuery({ ...stockQuery, refetchInterval: 30_000 })
  return (
    <>
      <PageHeader title={texts.title} lead={texts.lead} />
      <Loaded query={query}>
        {operators =>
          operators.length > 0 ? (
            <Stack gap="xl">
              {operators.map(operator => (
                <OperatorTariffs key={operator.code} operator={operator} query={query} />
              ))}
            </Stack>
          ) : (
            <Empty title={texts.none} text={texts.noneText} />
          )
        }
      </Loaded>
    </>
  )
}

function OperatorTariffs({ operator, query }: { operator: StockOperator; query: Query }) {
  const { stock: texts } = useTexts(esimTexts)
  const names = useNames()
  const name = names.of(operator)
  const country = operator.country === 'global' ? texts.global : names.country(operator.country)
  return (
    <Stack component="section" gap="sm" aria-label={name}>
      <div>
        <Title order={2}>{name}</Title>
        <Text size="sm" c="dimmed">
          {`${country} · ${texts.code}: ${operator.code}`}
        </Text>
      </div>
      <DataTable
        label={name}
        columns={useColumns()}
        query={query}
        rows={operator.tariffs}
        rowKey={({ code }) => code}
      />
    </Stack>
  )
}

function useColumns(): Column<Tariff>[] {
  const { tariff: title, stock: texts } = useTexts(esimTexts)
  const format = useFormat()
  const amount = (count: number, isUnlimited: boolean, worded: (count: number) => string) =>
    isUnlimited ? texts.unlimited : count > 0 ? worded(count) : none
  return [
    { key: 'name', title, cell: tariff => <TariffName tariff={tariff} /> },
    {
      key: 'state',
      title: texts.state,
      cell: ({ available }) =>
        available ? (
          <Badge leftSection={<IconCircleCheck size={13} aria-hidden />}>{texts.available}</Badge>
        ) : (
          <Badge color="gray" leftSection={<IconBan size={13} aria-hidden />}>
            {texts.unavailable}
          </Badge>
        ),
    },
    {
      key: 'data',
      title: texts.data,
      cell: ({ dataVolumeMb, dataUnlimited }) => amount(dataVolumeMb, dataUnlimited, format.dataVolume),
    },
    {
      key: 'voice',
      title: texts.voice,
      cell: ({ voiceMinutes, voiceUnlimited }) => amount(voiceMinutes, voiceUnlimited, texts.minutes),
    },
    {
      key: 'sms',
      title: texts.sms,
      cell: ({ smsCount, smsUnlimited }) => amount(smsCount, smsUnlimited, format.number),
    },
    { key: 'validity', title: texts.validity, cell: ({ validityDays }) => texts.days(validityDays) },
    {
      key: 'price',
      title: texts.price,
      align: 'right',
      cell: ({ price, currency }) => <Money amount={price} currency={currency} />,
    },
  ]
}

function TariffName({ tariff: { code, name, description } }: { tariff: Tariff }) {
  return (
    <>
      <Text fw={600} inherit>
        {name}
      </Text>
      <Text size="sm" c="dimmed">
        {[description, code].filter(Boolean).join(' · ')}
      </Text>
    </>
  )
}
