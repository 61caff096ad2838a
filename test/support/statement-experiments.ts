/**
 * Counts sales independently of the platform while processes are killed: random sales, cancels, changes of price and passing days
 * (contract/statements.md). statements-killed.test.ts has the short form, `npm run chaos -- statements` the long one.
 */
import assert from 'node:assert/strict'
import { createHash, randomInt } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { type Asked, ask as askAny, expectAnswer } from './careful-client.ts'
import { range } from './esim.ts'
import { testDirectory } from './platform.ts'
import { startWorld, type World } from './world.ts'

const sellers = 8
const ordersEach = 4
const giveUpAfterMs = 120_000

type Model = {
  /** By order id: the price in cents when the order was reserved. */
  made: Map<string, number>
  /** The content of each closed file, by the statement's id. */
  files: Map<string, string>
  confirmed: Set<string>
}

const decimal = (cents: number): string => (cents / 100).toFixed(2)
const centsOf = (text: string): number => Number(text.replace('.', ''))
/** Computes 12.3456 % in whole numbers, rounded half away from zero. */
const commissionOf = (cents: number): number => Number((BigInt(cents) * 123_456n + 500_000n) / 1_000_000n)

type WorldAsked = Omit<Asked, 'token'> & { token?: string }

const ask = (world: World, asked: WorldAsked) => askAny(world.processes, { token: world.tokens.alpha, ...asked })

const expect = (world: World, asked: WorldAsked, ...statuses: number[]): Promise<any> =>
  expectAnswer(world.processes, { token: world.tokens.alpha, ...asked }, ...statuses)

const operator = (world: World) => ({ token: world.settings.OPERATOR_KEY ?? '' })

function setPrice(world: World, cents: number): Promise<unknown> {
  const directory = testDirectory
    .replace('price: 399.00', `price: ${decimal(cents)}`)
    .replace(
      'operators: all }',
      'operators: all, statement: { timeZone: Europe/Kyiv, commissionPercentage: 12.3456 } }',
    )
  const body = { directory, files: {} }
  return expect(world, { method: 'POST', path: '/admin/directory', body, ...operator(world) }, 200)
}

const passTime = (world: World, advance: string): Promise<unknown> =>
  expect(world, { method: 'POST', path: '/sandbox/clock', body: { advance }, ...operator(world) }, 200)

let lastOrder = 0

/**
 * Makes one order and confirms it, cancels it, does both at once, or leaves it alone. The order may expire before that,
 * because the sandbox's clock is moved meanwhile.
 */
async function oneOrder(world: World, model: Model, cents: number): Promise<void> {
  const body = { operatorCode: 'kyivstar', tariffCode: 'eu-10gb', externalId: `killed-${++lastOrder}` }
  const { orderId } = await expect(world, { method: 'POST', path: '/esim/v1/orders', body }, 200, 201)
  model.made.set(orderId, cents)
  const end = (how: string) => ask(world, { method: 'POST', path: `/esim/v1/orders/${orderId}/${how}` })
  const chance = randomInt(10)
  if (chance < 6) await end('confirm')
  else if (chance < 8) await Promise.all([end('confirm'), end('cancel')])
  else if (chance < 9) await end('cancel')
}

/** Reads every closed statement, oldest first. A file that was read before must have the same bytes. */
async function readFiles(world: World, { files }: Model): Promise<any[]> {
  const today = await expect(world, { method: 'GET', path: '/partner/v1/statements/latest' }, 200, 404)
  if (today.day === undefined) return []
  const from = new Date(Date.parse(today.day) - 399 * 86_400_000).toISOString().slice(0, 10)
  const path = `/partner/v1/statements?from=${from}&to=${today.day}&limit=500`
  const { data } = await expect(world, { method: 'GET', path }, 200)
  for (const { statementId, sha256 } of data) {
    const bytes: Buffer = await expect(world, { method: 'GET', path: `/partner/v1/statements/${statementId}.csv` }, 200)
    assert.equal(createHash('sha256').update(bytes).digest('hex'), sha256)
    const text = bytes.toString()
    assert.equal(text, files.get(statementId) ?? text, 'the bytes of a closed file changed')
    files.set(statementId, text)
  }
  return data.toReversed()
}

function assertChain(statements: readonly any[], { files }: Model): void {
  for (const [index, { number, statementId, from, previousStatementId }] of statements.entries()) {
    const before = statements[index - 1]
    assert.equal(number, index + 1)
    assert.equal(previousStatementId, before?.statementId ?? null)
    assert.equal(from, before?.to ?? from)
    const [header = ''] = (files.get(statementId) ?? '').split('\r\n', 1)
    assert.equal(header.split(',').at(-1), before?.sha256 ?? '-')
  }
}

/** Compares the lines in the statements' files with the orders that were made, as a bank's accountants would. */
function assertLines({ made, files, confirmed }: Model): void {
  const records = [...files.values()].flatMap(text => text.split('\r\n').map(record => record.split(',')))
  const lines = records.filter(([kind]) => kind === 'D')
  assert.deepEqual(
    lines.map(fields => fields[3]).toSorted(),
    [...confirmed].toSorted(),
    'each confirmed order on exactly one',
  )
  for (const fields of lines) {
    const cents = made.get(fields[3] ?? '') ?? 0
    const money = [fields[11], fields[12], fields[13]].map(text => centsOf(text ?? ''))
    assert.deepEqual(money, [cents, commissionOf(cents), cents - commissionOf(cents)], fields[3])
  }
  const gross = records.filter(([kind]) => kind === 'T').reduce((sum, fields) => sum + centsOf(fields[6] ?? ''), 0)
  assert.equal(
    gross,
    [...confirmed].reduce((sum, orderId) => sum + (made.get(orderId) ?? 0), 0),
  )
}

/** Compares the portal's sales figures of all days with the model. */
async function assertRollUp(world: World, statements: readonly any[], model: Model): Promise<void> {
  let sold = 0
  for (let index = 0; index < statements.length; index += 60) {
    const days = statements.slice(index, index + 60)
    const path = `/portal/esim/sales?from=${days[0].day}&to=${days.at(-1).day}`
    const { days: counted } = await expect(world, { method: 'GET', path }, 200)
    sold += counted.reduce((sum: number, { confirmed }: { confirmed: number }) => sum + confirmed, 0)
  }
  assert.equal(sold, model.confirmed.size, 'the roll-up')
}

/**
 * Sells, changes prices and moves the clock by days, then compares orders, statements and figures. Each round kills one
 * of the two processes during sales, and the other one during the closing.
 * @returns figures
 */
export async function settleUnderKills({ rounds }: { rounds: number }) {
  const profiles = rounds * sellers * ordersEach + 100
  const world = await startWorld({ processes: 2, profiles, seed: 8_400 })
  const model: Model = { made: new Map(), files: new Map(), confirmed: new Set() }
  try {
    for (const round of range(rounds)) {
      const cents = 1 + randomInt(9_999_998)
      await setPrice(world, cents)
      const selling = Promise.all(
        range(sellers).map(async () => {
          for (const _ of range(ordersEach)) await oneOrder(world, model, cents)
        }),
      )
      const killing = sleep(randomInt(300)).then(() => world.replace(round % 2, victim => victim.kill()))
      const passing = round % 3 === 0 ? passTime(world, 'PT13H') : passTime(world, 'PT5M')
      await Promise.all([selling, killing, passing])
      // This starts a closing, during which the other process is killed.
      const closing = passTime(world, 'P1DT1M')
      await sleep(randomInt(200))
      await world.replace((round + 1) % 2, victim => victim.kill())
      await closing
      await readFiles(world, model)
    }
    return await settle(world, model)
  } finally {
    await world.close()
  }
}

async function settle(world: World, model: Model) {
  await passTime(world, 'P2D')
  for (const orderId of model.made.keys()) {
    const { status } = await expect(world, { method: 'GET', path: `/esim/v1/orders/${orderId}` }, 200)
    assert.notEqual(status, 'reserved')
    if (status === 'confirmed') model.confirmed.add(orderId)
  }
  const { status } = await ask(world, { method: 'GET', path: '/partner/v1/statements/open' })
  assert.equal(status, 200)
  const statements = await readFiles(world, model)
  assertChain(statements, model)
  assertLines(model)
  await assertRollUp(world, statements, model)
  const verified = await expect(world, { method: 'GET', path: '/admin/statements/verify', ...operator(world) }, 200)
  assert.equal(verified.ok, true, JSON.stringify(verified))
  return { orders: model.made.size, confirmed: model.confirmed.size, statements: statements.length }
}

const reservers = 48
const pageLimit = 500

/**
 * Makes orders as fast as the machine can, while a program reads the ascending list from its last cursor. At the end the program has
 * seen each order once.
 */
export async function walkWhileSelling({ forMs, profiles }: { forMs: number; profiles: number }) {
  const world = await startWorld({ processes: 2, profiles, seed: 8_401 })
  try {
    const made: string[] = []
    const beganAt = performance.now()
    const isGoing = () => performance.now() - beganAt < forMs
    const selling = Promise.all(
      range(reservers).map(async index => {
        for (let n = 0; isGoing(); n++) {
          const body = { operatorCode: 'kyivstar', tariffCode: 'eu-10gb', externalId: `walked-${index}-${n}` }
          const { orderId } = await expect(world, { method: 'POST', path: '/esim/v1/orders', body }, 200, 201)
          made.push(orderId)
          // A cancelled order's profile can be sold again.
          await expect(world, { method: 'POST', path: `/esim/v1/orders/${orderId}/cancel` }, 200)
        }
      }),
    )
    selling.catch(() => {})
    const seen: string[] = []
    let cursor = ''
    const goOn = async () => {
      const path = `/partner/v1/orders?sort=createdAt&limit=${pageLimit}${cursor}`
      const { data, nextCursor } = await expect(world, { method: 'GET', path }, 200)
      for (const { orderId } of data) seen.push(orderId)
      cursor = `&cursor=${encodeURIComponent(nextCursor)}`
      return data.length as number
    }
    while (isGoing()) if ((await goOn()) < pageLimit) await sleep(100)
    await selling
    await settled(made, seen, goOn)
    const aSecond = Math.round(made.length / (forMs / 1_000))
    return { orders: made.length, aSecond }
  } finally {
    await world.close()
  }
}

/** Reads on until every order was seen, because the list shows an order only after 15 seconds. */
async function settled(made: readonly string[], seen: readonly string[], goOn: () => Promise<number>): Promise<void> {
  const giveUpAt = performance.now() + giveUpAfterMs
  while (seen.length < made.length && performance.now() < giveUpAt) if ((await goOn()) < pageLimit) await sleep(500)
  assert.equal(seen.length, made.length)
  assert.deepEqual(seen.toSorted(), made.toSorted())
}
