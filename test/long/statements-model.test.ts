/**
 * Makes random sales, cancels, price changes and passing days, and compares the platform's statements with those that a model computes
 * from them. A second program reads the list of orders meanwhile (contract/statements.md, "What is on it"; contract/partner-orders.md,
 * "The list").
 */
import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { after, before, test } from 'node:test'
import { makeAllLines } from '../../src/statements/lines-store.ts'
import { verifyStatements } from '../../src/statements/verify.ts'
import { advance, type Bank, bankAt, openBank } from '../support/esim.ts'
import { startPlatform, type TestPlatform, testDirectory } from '../support/platform.ts'

let platform: TestPlatform
let sibling: TestPlatform
let bank: Bank
/** The same bank at another process. */
let other: Bank
before(async () => {
  platform = await startPlatform({ API_RATE_LIMIT: '0', RATE_LIMIT: '0' })
  await setPrice(39_900)
  sibling = await platform.sibling()
  await platform.addStock('kyivstar', 'eu-10gb', 400)
  bank = await openBank(platform)
  other = bankAt(sibling, bank.token)
})
after(async () => {
  await sibling.close()
  await platform.close()
})

const setPrice = (cents: number) =>
  platform.applyDirectory(
    testDirectory
      .replace('price: 399.00', `price: ${decimal(cents)}`)
      .replace(
        'operators: all }',
        'operators: all, statement: { timeZone: Europe/Kyiv, commissionPercentage: 12.3456 } }',
      ),
  )
const decimal = (cents: number) => (cents / 100).toFixed(2)
const centsOf = (text: string) => Number(text.replace('.', ''))
/** Computes the commission of 12.3456 % in whole numbers, rounded half away from zero. */
const commissionOf = (cents: number) => Number((BigInt(cents) * 123_456n + 500_000n) / 1_000_000n)

const get = async (path: string) => {
  const answer = await platform.call('GET', `/partner/v1${path}`, { token: bank.token })
  assert.equal(answer.status, 200, `${path}: ${answer.text}`)
  return answer
}

/** Returns a random generator that gives the same numbers in each run. */
function randomOf(seed: number): (below: number) => number {
  let state = seed
  return below => {
    state = (state * 1_103_515_245 + 12_345) % 2 ** 31
    return Math.floor((state / 2 ** 31) * below)
  }
}

type Model = { made: string[]; confirmed: Map<string, number> }

let lastOrder = 0

/** One order with a random outcome: confirmed twice at once, cancelled while it is confirmed, or left alone. */
async function oneOrder(model: Model, price: number, chance: number): Promise<void> {
  const { status, body, text } = await bank.reserve(`model-${++lastOrder}`)
  assert.equal(status, 201, text)
  const orderId: string = body.orderId
  model.made.push(orderId)
  if (chance < 5) await Promise.all([bank.confirm(orderId), other.confirm(orderId)])
  else if (chance < 8) await Promise.all([other.confirm(orderId), bank.cancel(orderId)])
  if ((await bank.read(orderId)).body.status === 'confirmed') model.confirmed.set(orderId, price)
}

/** Reads the list of orders from the last cursor on, like a program that reads it from time to time. */
function walker() {
  const seen: string[] = []
  let cursor = ''
  return {
    seen,
    async goOn(): Promise<void> {
      for (;;) {
        const { body } = await get(`/orders?sort=createdAt&limit=7${cursor}`)
        seen.push(...body.data.map((order: { orderId: string }) => order.orderId))
        cursor = `&cursor=${encodeURIComponent(body.nextCursor)}`
        if (body.data.length < 7) return
      }
    },
  }
}

type Files = Map<string, string>

/** Reads every closed statement. A file that was read before must have the same bytes. */
async function readFiles(files: Files): Promise<any[]> {
  const { data } = (await get('/statements?limit=500')).body
  for (const { statementId, sha256 } of data) {
    const { text, body } = await get(`/statements/${statementId}.csv`)
    assert.equal(createHash('sha256').update(body).digest('hex'), sha256)
    assert.equal(text, files.get(statementId) ?? text)
    files.set(statementId, text)
  }
  return data.toReversed()
}

test('each sale is on exactly one statement, to the cent, and the list is walked up without a gap', async () => {
  const random = randomOf(7)
  const model: Model = { made: [], confirmed: new Map() }
  const files: Files = new Map()
  const { seen, goOn } = walker()
  let price = 39_900
  for (let round = 0; round < 12; round++) {
    // Orders arrive while days are closed and the list is read.
    const steps = Array.from({ length: 6 }, () => oneOrder(model, price, random(10)))
    const passing = random(3) === 0 ? advance(platform, 'PT13H') : goOn()
    await Promise.all([...steps, passing])
    await advance(platform, random(2) === 0 ? 'PT16M' : 'P1DT1M')
    await readFiles(files)
    price = 1 + random(9_999_998)
    await setPrice(price)
  }
  await advance(platform, 'P2D')
  await goOn()
  assert.deepEqual(seen, model.made.toSorted())
  assertStated(await readFiles(files), await linesOf(files), model)
  await makeAllLines(platform.platform.database, 5_000)
  const { ok, checks } = await verifyStatements(platform.platform.database, null)
  assert.ok(ok, JSON.stringify(checks.filter(check => !check.ok)))
})

async function linesOf(files: Files): Promise<any[]> {
  const lines = []
  for (const statementId of files.keys())
    lines.push(...(await get(`/statements/${statementId}/lines?limit=500`)).body.data)
  return lines
}

function assertStated(statements: any[], lines: any[], { confirmed }: Model): void {
  assert.deepEqual(lines.map(({ orderId }) => orderId).toSorted(), [...confirmed.keys()].toSorted())
  for (const { orderId, amount, commission, net } of lines) {
    const cents = confirmed.get(orderId) ?? 0
    assert.deepEqual(
      [amount, commission, net].map(centsOf),
      [cents, commissionOf(cents), cents - commissionOf(cents)],
      orderId,
    )
  }
  const sum = (of: (total: any) => number) =>
    statements.flatMap(({ totals }) => totals).reduce((all, total) => all + of(total), 0)
  const prices = [...confirmed.values()]
  assert.equal(
    sum(total => centsOf(total.gross)),
    prices.reduce((all, cents) => all + cents, 0),
  )
  assert.equal(
    sum(total => centsOf(total.commission)),
    prices.reduce((all, cents) => all + commissionOf(cents), 0),
  )
  for (const [index, { number, from, previousStatementId }] of statements.entries()) {
    assert.equal(number, index + 1)
    assert.equal(previousStatementId, statements[index - 1]?.statementId ?? null)
    assert.equal(from, statements[index - 1]?.to ?? from)
  }
}
