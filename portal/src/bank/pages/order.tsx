import { Card, Stack } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { getRouteApi } from '@tanstack/react-router'
import { useFormat, useTexts } from '../../i18n/preferences.tsx'
import { BackLink } from '../../ui/back-link.tsx'
import { KeyFacts } from '../../ui/key-facts.tsx'
import { LinkAnchor } from '../../ui/links.tsx'
import { OrderHistory } from '../../ui/order-history.tsx'
import { PageHeader } from '../../ui/page-header.tsx'
import { PageLoaded } from '../../ui/page-loaded.tsx'
import { followsText, isAwaited } from '../../ui/statements/awaited.ts'
import { statementTexts } from '../../ui/statements/texts.ts'
import { StatusBadge } from '../../ui/status-badge.tsx'
import { ExactTime, Money, none } from '../../ui/values.tsx'
import { esimTexts } from '../esim-texts.ts'
import { openStatementQuery, orderQuery } from '../queries.ts'
import { useOperatorName } from '../tariff-names.ts'
import type { OrderWithTimeline } from '../types.ts'

const route = getRouteApi('/signed-in/bank/esim/orders/$orderId')

function Back() {
  const { orders: texts } = useTexts(esimTexts)
  return <BackLink to="/bank/esim/orders">{texts.title}</BackLink>
}

/** One of the bank's eSIM orders, without the secrets that install the profile. */
export function OrderPage() {
  const { orderId } = route.useParams()
  const { orders: texts } = useTexts(esimTexts)
  const query = useQuery(orderQuery(orderId))
  return (
    <PageLoaded query={query} back={<Back />} notShown={texts.notShown} notFound={texts.isUnknown}>
      {order => <Whole order={order} />}
    </PageLoaded>
  )
}

function Whole({ order }: { order: OrderWithTimeline }) {
  const { tariff, orders: texts } = useTexts(esimTexts)
  const stated = useTexts(statementTexts)
  const operatorName = useOperatorName()
  const { externalId, orderId, status, deliveryMode, emailDelivery, reservedUntil, confirmedAt, cancelledAt } = order
  return (
    <>
      <PageHeader
        back={<Back />}
        title={externalId}
        badge={<StatusBadge of="order" status={status} />}
        lead={`${texts.orderId}: ${orderId}`}
      />
      <Stack gap="lg">
        <Card>
          <KeyFacts
            columns={3}
            facts={[
              { label: tariff, value: order.tariffName, hint: operatorName(order.operatorCode) },
              { label: texts.price, value: <Money amount={order.price} currency={order.currency} /> },
              { label: texts.subscriber, value: order.msisdn ?? none },
              { label: texts.made, value: <ExactTime at={order.createdAt} /> },
              { label: texts.reservedUntil, value: <ExactTime at={reservedUntil} /> },
              { label: texts.confirmed, value: <ExactTime at={confirmedAt} /> },
              { label: texts.cancelled, value: <ExactTime at={cancelledAt} /> },
              { label: texts.delivery, value: deliveryMode ? texts.deliveryModes[deliveryMode] : none },
              { label: texts.email, value: emailDelivery ? texts.emails[emailDelivery] : none },
              { label: stated.paymentReference, value: order.paymentReference ?? none },
              { label: stated.onStatement, value: <OnStatement order={order} /> },
            ]}
          />
        </Card>
        <OrderHistory timeline={order.timeline} />
      </Stack>
    </>
  )
}

/**
 * The statement that contains the order. A sale gets its statement after its day ends, in the time zone of the bank's
 * statements.
 */
function OnStatement({ order }: { order: OrderWithTimeline }) {
  const texts = useTexts(statementTexts)
  const format = useFormat()
  const { data: open } = useQuery({ ...openStatementQuery, enabled: isAwaited(order) })
  if (isAwaited(order)) return followsText(texts, open?.timeZone)
  if (!order.statement) return none
  const { statementId, day, number } = order.statement
  return (
    <LinkAnchor to="/bank/statements/$statementId" params={{ statementId }}>
      {texts.statementOf(format.calendarDay(day), number)}
    </LinkAnchor>
  )
}
