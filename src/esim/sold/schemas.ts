/** eSIM sales as a bank's people see them. */
import Type from 'typebox'
import { closed, count, money, text, uuid } from '../../http/schemas.ts'
import * as esim from '../orders/schemas.ts'
import { nextCursor, PortalOrder, shownOrder, stated, timeline } from './order-schemas.ts'

export const OrdersPage = Type.Object(
  { data: Type.Array(PortalOrder, { description: 'Newest first' }), nextCursor },
  { description: 'The orders' },
)

export const OrderPath = Type.Object({ orderId: uuid('The order', '019aa5a2-6d6c-7f3c-9a55-0f6d0a7c2b11') })
export const OrderWithTimeline = Type.Object({ ...shownOrder, ...stated, timeline }, { description: 'The order' })

const day = (description: string, example: string) => Type.String({ format: 'date', description, examples: [example] })

export const SalesQuery = Type.Object(
  {
    from: Type.Optional(day('First day; left out, 29 days before `to`', '2026-11-01')),
    to: Type.Optional(day('Last day, at most 366 days in all; left out, today', '2026-11-30')),
  },
  closed,
)

const counts = {
  confirmed: count('Sold', 12),
  cancelled: count('Cancelled by the bank', 2),
  expired: count('Not paid in time', 1),
  amounts: Type.Array(
    Type.Object(
      { currency: text('ISO 4217', 'UAH'), amount: money('Sum of the prices at the reservation', 4788) },
      { title: 'CurrencyAmount' },
    ),
    { description: 'What was sold, by currency' },
  ),
}

export const Sales = Type.Object(
  {
    timeZone: text('The time zone of the days: that of the bank’s statements', 'Europe/Kyiv'),
    from: day('First day', '2026-11-01'),
    to: day('Last day', '2026-11-30'),
    days: Type.Array(
      Type.Object({
        day: day('The day on which the orders were confirmed, cancelled, or expired', '2026-11-21'),
        operatorCode: text('Mobile operator', 'kyivstar'),
        tariffCode: text('Tariff', 'eu-10gb'),
        ...counts,
      }),
      { description: 'Days and tariffs on which nothing ended are left out' },
    ),
    totals: Type.Object(counts, { description: 'Of all days together' }),
  },
  { description: 'What was sold' },
)

export const Stock = Type.Array(
  Type.Object({
    ...esim.Operator.properties,
    tariffs: Type.Array(Type.Object(esim.Tariff.properties), { description: 'Its tariffs, in their order' }),
  }),
  { description: 'What the bank may sell, as the catalogue shows it at this moment' },
)
