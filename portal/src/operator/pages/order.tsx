import { Card, Stack } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { getRouteApi } from '@tanstack/react-router'
import { useFormat, useNames, useTexts } from '../../i18n/preferences.tsx'
import { BackLink } from '../../ui/back-link.tsx'
import { KeyFacts } from '../../ui/key-facts.tsx'
import { OrderHistory } from '../../ui/order-history.tsx'
import { PageHeader } from '../../ui/page-header.tsx'
import { PageLoaded } from '../../ui/page-loaded.tsx'
import { followsText, isAwaited } from '../../ui/statements/awaited.ts'
import { statementTexts } from '../../ui/statements/texts.ts'
import { StatusBadge } from '../../ui/status-badge.tsx'
import { ExactTime, Money, none } from '../../ui/values.tsx'
import { type OrderWithTimeline, orderQuery, partnersQuery } from '../queries.ts'
import { operatorTexts } from '../texts.ts'

const route = getRouteApi('/signed-in/operator/orders/$orderId')

/** One eSIM order and its history, without its secrets. */
export function OrderPage() {
  const { orderId } = route.useParams()
  const query = useQuery(orderQuery(orderId))
  const { orders: texts } = useTexts(operatorTexts)
  return (
    <PageLoaded
      query={query}
      back={<BackLink to="/operator/orders">{texts.back}</BackLink>}
      notShown={texts.notShown}
      notFound={texts.isUnknown}
    >
      {order => <Whole order={order} />}
    </PageLoaded>
  )
}

function Whole({ order }: { order: OrderWithTimeline }) {
  const { orders: texts } = useTexts(operatorTexts)
  const stated = useTexts(statementTexts)
  const format = useFormat()
  const { externalId, status, bank, tariffName, price, currency, msisdn, deliveryMode, emailDelivery, statement } =
    order
  const names = useNames()
  const { data: partners } = useQuery(partnersQuery())
  const zone = partners?.banks.find(({ entry }) => entry.code === bank.code)?.entry.esim.statement.timeZone
  const operator = partners?.mobileOperators.find(({ code }) => code === order.operatorCode)
  return (
    <>
      <PageHeader
        back={<BackLink to="/operator/orders">{texts.back}</BackLink>}
        title={externalId}
        badge={<StatusBadge of="order" status={status} />}
        lead={`${texts.order} ${order.orderId}`}
      />
      <Stack gap="lg">
        <Card>
          <KeyFacts
            columns={3}
            facts={[
              { label: texts.bank, value: bank.name },
              { label: texts.tariff, value: tariffName, hint: operator && names.of(operator) },
              { label: texts.price, value: <Money amount={price} currency={currency} /> },
              { label: texts.number, value: msisdn ?? none },
              { label: texts.reservedUntil, value: <ExactTime at={order.reservedUntil} /> },
              { label: texts.delivery, value: deliveryMode ? texts.deliveryModes[deliveryMode] : none },
              { label: texts.email, value: emailDelivery ? texts.emails[emailDelivery] : none },
              { label: stated.paymentReference, value: order.paymentReference ?? none },
              {
                label: stated.onStatement,
                value: statement
                  ? stated.statementOf(format.calendarDay(statement.day), statement.number)
                  : isAwaited(order)
                    ? followsText(stated, zone)
                    : none,
              },
            ]}
          />
        </Card>
        <OrderHistory timeline={order.timeline} />
      </Stack>
    </>
  )
}
