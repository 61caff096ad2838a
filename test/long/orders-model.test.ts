/**
 * Compares random sequences of a bank's calls, passing time, new stock and restarts, in two processes, with a simple
 * model of the contract (contract/esim.md, "States").
 */
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { advance, assertError, assertOrder, type Bank, bankAt, openBank, provenBooks } from '../support/esim.ts'
import { startPlatform, type TestPlatform } from '../support/platform.ts'
import fc from '../support/properties.ts'

const tariffCodes = ['eu-10gb', 'ua-5gb'] as const
type TariffCode = (typeof tariffCodes)[number]
type Status = 'reserved' | 'confirmed' | 'cancelled' | 'expired'
type ModelOrder = {
  orderId: string
  tariffCode: TariffCode
  status: Status
  msisdn: string
  atMinute: number
  answer?: unknown
}

let platform: TestPlatform
let siblings: [TestPlatform, TestPlatform]
let token: string
before(async () => {
  // This platform only owns the database; requests go to the two processes that are restarted.
  platform = await startPlatform({ PUBLIC_URL: 'http://esim.example' }, { only: ['auth', 'esim', 'admin'] })
  token = (await openBank(platform)).token
  siblings = [await platform.sibling(), await platform.sibling()]
})
after(async () => {
  for (const sibling of siblings) await sibling.close()
  await platform.close()
})

const orders = new Map<string, ModelOrder>()
const free: Record<TariffCode, number> = { 'eu-10gb': 0, 'ua-5gb': 0 }
let minute = 0
let run = 0

function pass(minutes: number): void {
  minute += minutes
  for (const order of orders.values())
    if (order.status === 'reserved' && minute - order.atMinute >= 15) {
      order.status = 'expired'
      free[order.tariffCode]++
    }
}

type Command = (bank: Bank) => Promise<void>

async function reserve(bank: Bank, slot: number, tariffCode: TariffCode): Promise<void> {
  const externalId = `${run}-${slot}`
  const answer = await bank.reserve({ tariffCode, externalId })
  const known = orders.get(externalId)
  if (known && known.tariffCode !== tariffCode) return assertError(answer, 409)
  if (known) return check(answer, externalId, known)
  if (free[tariffCode] === 0) return assertError(answer, 503)
  const { orderId, msisdn } = assertOrder(answer, { status: 'reserved', externalId, tariffCode }, 201)
  free[tariffCode]--
  for (const other of orders.values())
    if (other.msisdn === msisdn)
      assert.ok(['cancelled', 'expired'].includes(other.status), 'a profile on two live orders')
  orders.set(externalId, { orderId, tariffCode, status: 'reserved', msisdn: String(msisdn), atMinute: minute })
}

function check(answer: Parameters<typeof assertOrder>[0], externalId: string, known: ModelOrder): void {
  const { orderId, tariffCode, status } = known
  const { msisdn } = assertOrder(answer, { externalId, orderId, tariffCode, status })
  if (status === 'reserved' || status === 'confirmed') assert.equal(msisdn, known.msisdn)
}

const chosen = (slot: number): [string, ModelOrder] | undefined => [...orders].at(slot % Math.max(1, orders.size))

async function confirm(bank: Bank, slot: number): Promise<void> {
  const [, order] = chosen(slot) ?? []
  if (!order) return
  const answer = await bank.confirm(order.orderId)
  if (order.status === 'cancelled' || order.status === 'expired') return assertError(answer, 409)
  assert.equal(answer.status, 200, answer.text)
  assert.equal(answer.body.msisdn, order.msisdn)
  if (order.status === 'confirmed') return assert.deepEqual(answer.body, order.answer)
  order.status = 'confirmed'
  order.answer = answer.body
}

async function cancel(bank: Bank, slot: number): Promise<void> {
  const [externalId, order] = chosen(slot) ?? []
  if (!order || externalId === undefined) return
  const answer = await bank.cancel(order.orderId)
  if (order.status === 'confirmed' || order.status === 'expired') return assertError(answer, 409)
  if (order.status === 'reserved') free[order.tariffCode]++
  order.status = 'cancelled'
  check(answer, externalId, order)
}

async function look(bank: Bank): Promise<void> {
  for (const [externalId, order] of orders) {
    check(await bank.read(order.orderId), externalId, order)
    const qr = await bank.qr(order.orderId)
    if (order.status === 'confirmed') assert.equal(qr.status, 200)
    else assertError(qr, 409)
  }
}

async function letPass(minutes: number, swept: boolean): Promise<void> {
  if (swept) await advance(platform, `PT${minutes}M`)
  else
    await platform.platform.database.execute('update sandbox_clock set offset_ms = offset_ms + $1', [minutes * 60_000])
  const [row] = await platform.platform.database.query<{ ms: number }>('select offset_ms as ms from sandbox_clock')
  for (const each of [platform, ...siblings]) each.platform.deps.esim.clock.setOffsetMs(row?.ms ?? 0)
  pass(minutes)
}

async function restart(which: number): Promise<void> {
  await siblings[which % 2]?.close()
  siblings[which % 2] = await platform.sibling()
}

const slot = fc.nat({ max: 7 })
const tariffCode = fc.constantFrom(...tariffCodes)
const command: fc.Arbitrary<Command> = fc.oneof(
  {
    weight: 10,
    arbitrary: fc
      .tuple(slot, tariffCode)
      .map(([n, code]): Command => named(`reserve ${n} ${code}`, bank => reserve(bank, n, code))),
  },
  { weight: 7, arbitrary: slot.map((n): Command => named(`confirm ${n}`, bank => confirm(bank, n))) },
  { weight: 5, arbitrary: slot.map((n): Command => named(`cancel ${n}`, bank => cancel(bank, n))) },
  { weight: 2, arbitrary: fc.constant(named('look', look)) },
  {
    weight: 3,
    arbitrary: fc
      .tuple(fc.constantFrom(1, 5, 7, 10, 14, 15, 16), fc.constantFrom(true, false, false, false))
      .map(
        ([minutes, swept]): Command =>
          named(`${minutes} minutes${swept ? ', swept' : ''}`, () => letPass(minutes, swept)),
      ),
  },
  {
    weight: 2,
    arbitrary: fc.tuple(tariffCode, fc.integer({ min: 1, max: 2 })).map(
      ([code, count]): Command =>
        named(`${count} more ${code}`, async () => {
          await platform.addStock('kyivstar', code, count)
          free[code] += count
        }),
    ),
  },
  { weight: 1, arbitrary: fc.nat({ max: 1 }).map((which): Command => named(`restart ${which}`, () => restart(which))) },
)

function named(name: string, command: Command): Command {
  return Object.assign(command.bind(null), { [fc.toStringMethod]: () => name })
}

test('answers as the model does, whatever comes', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.tuple(command, fc.nat({ max: 1 })), { minLength: 20, maxLength: 40, size: 'max' }),
      async commands => {
        run++
        await letPass(15, false)
        orders.clear()
        for (const code of tariffCodes) {
          free[code] = (await provenBooks(platform, code)).free
          if (free[code] < 3) {
            await platform.addStock('kyivstar', code, 3 - free[code])
            free[code] = 3
          }
        }
        for (const [step, process] of commands) await step(bankAt(siblings[process] as TestPlatform, token))
        await look(bankAt(siblings[0], token))
        const { body } = await bankAt(siblings[1], token).tariffs()
        for (const code of tariffCodes) {
          const of = (status: Status) =>
            [...orders.values()].filter(order => order.tariffCode === code && order.status === status)
          const books = await provenBooks(platform, code)
          assert.deepEqual([books.free, books.reserved], [free[code], of('reserved').length])
          const shown = body.find((tariff: { code: string }) => tariff.code === code)
          assert.equal(shown.available, free[code] > 0)
        }
      },
    ),
    { numRuns: 15, endOnFailure: false },
  )
})
