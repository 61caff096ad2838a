import { Alert, Card, List, SimpleGrid, Stack, Text, Title } from '@mantine/core'
import { IconAlertTriangle, IconCircleCheck } from '@tabler/icons-react'
import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { statusNames } from '../../campaigns/list/campaign-groups.ts'
import { CountTiles } from '../../campaigns/list/count-tiles.tsx'
import { useFormat, useNames, useTexts } from '../../i18n/preferences.tsx'
import { useSession } from '../../session/use-session.ts'
import { KeyFacts } from '../../ui/key-facts.tsx'
import { LinkAnchor } from '../../ui/links.tsx'
import { PageHeader } from '../../ui/page-header.tsx'
import { Loaded } from '../../ui/states.tsx'
import { statusTexts } from '../../ui/status-texts.ts'
import { Count } from '../../ui/values.tsx'
import { auditsQuery, overviewQuery, stockQuery } from '../queries.ts'
import { operatorTexts } from '../texts.ts'

/** The operator's home: first what needs attention (low stock, failed checks), then counts of everything. */
export function HomePage() {
  const { home: texts } = useTexts(operatorTexts)
  const session = useSession()
  return (
    <>
      <PageHeader title={session.name} lead={texts.lead} />
      <Stack gap="lg">
        <SimpleGrid cols={{ base: 1, md: 2 }}>
          <LowStock />
          <Books />
        </SimpleGrid>
        <Overview />
      </Stack>
    </>
  )
}

function Overview() {
  const { home: texts } = useTexts(operatorTexts)
  const names = useTexts(statusTexts).campaign
  const format = useFormat()
  const query = useQuery({ ...overviewQuery, refetchInterval: 60_000 })
  const { data: lines } = useQuery({ ...stockQuery, refetchInterval: 60_000 })
  const sum = (state: 'sold' | 'reserved' | 'free') => lines?.reduce((total, line) => total + line[state], 0)
  return (
    <Loaded query={query}>
      {({ banks, merchants, users, customers, tariffs, campaigns, ...overview }) => (
        <>
          <Card component="section">
            <Title order={2} mb="md">
              {texts.partners}
            </Title>
            <KeyFacts
              facts={[
                {
                  label: texts.banks,
                  value: <Count value={banks.active} />,
                  hint: banks.suspended > 0 && texts.suspended(format.number(banks.suspended)),
                },
                {
                  label: texts.merchants,
                  value: <Count value={merchants.active} />,
                  hint: merchants.suspended > 0 && texts.suspended(format.number(merchants.suspended)),
                },
                { label: texts.people, value: <Count value={users} /> },
                { label: texts.customers, value: <Count value={customers} /> },
              ]}
            />
          </Card>
          <Card component="section">
            <Title order={2} mb="md">
              {texts.esim}
            </Title>
            <KeyFacts
              facts={[
                {
                  label: texts.sold,
                  value: <Count value={sum('sold')} />,
                  hint: texts.soldLastDay(format.number(overview.orders.confirmed)),
                },
                { label: texts.reserved, value: <Count value={sum('reserved')} /> },
                { label: texts.free, value: <Count value={sum('free')} /> },
                { label: texts.tariffs, value: <Count value={tariffs.onSale} /> },
              ]}
            />
          </Card>
          <CountTiles
            title={texts.campaigns}
            tiles={statusNames
              .filter(status => campaigns[status] > 0)
              .map(status => ({ key: status, label: names[status], count: campaigns[status] }))}
            link={({ key }, children, look) => (
              <Link to="/operator/campaigns" search={{ status: key }} className={look}>
                {children}
              </Link>
            )}
          />
        </>
      )}
    </Loaded>
  )
}

function LowStock() {
  const { home: texts, stock } = useTexts(operatorTexts)
  const names = useNames()
  const query = useQuery(stockQuery)
  return (
    <Card component="section">
      <Title order={2} mb="md">
        {texts.stock}
      </Title>
      <Loaded query={query}>
        {lines => {
          const scarce = lines.filter(({ isOffered, level }) => isOffered && level !== 'enough')
          if (scarce.length === 0) return <Text>{texts.stockFine}</Text>
          return (
            <List spacing={4} mb="sm">
              {scarce.map(({ operatorCode, tariffCode, operatorName, operatorNameEn, tariffName, level }) => (
                <List.Item key={`${operatorCode} ${tariffCode}`}>
                  <LinkAnchor to="/operator/stock/$operatorCode/$tariffCode" params={{ operatorCode, tariffCode }}>
                    {names.of({ name: operatorName, nameEn: operatorNameEn })} · {tariffName}
                  </LinkAnchor>{' '}
                  <Text span c="dimmed">
                    {stock.levels[level]}
                  </Text>
                </List.Item>
              ))}
            </List>
          )
        }}
      </Loaded>
      <LinkAnchor to="/operator/stock">{texts.toStock}</LinkAnchor>
    </Card>
  )
}

function Books() {
  const { home: texts } = useTexts(operatorTexts)
  const format = useFormat()
  const query = useQuery(auditsQuery)
  return (
    <Card component="section">
      <Title order={2} mb="md">
        {texts.books}
      </Title>
      <Loaded query={query}>
        {({ last }) =>
          last && (
            <Alert
              color={last.ok ? 'perk' : 'red'}
              icon={last.ok ? <IconCircleCheck /> : <IconAlertTriangle />}
              title={
                last.ok ? texts.booksRight : texts.booksWrong(format.number(last.checks.filter(({ ok }) => !ok).length))
              }
              mb="sm"
            >
              {format.dateTime(last.finishedAt)}
            </Alert>
          )
        }
      </Loaded>
      <LinkAnchor to="/operator/audit">{texts.toAudit}</LinkAnchor>
    </Card>
  )
}
