/**
 * Sells and uploads while the disk fills up, and checks what must be true then (contract/reliability.md, "When
 * something is away").
 */
import assert from 'node:assert/strict'
import { randomInt } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import pg from 'pg'
import { profileLines } from '../../samples/make-profiles.ts'
import { assertError, proveBooks, range, until } from './esim.ts'
import type { PerklineProcess } from './process.ts'
import { persist, proveSales, recoverWithinMs, type Sale, sell } from './sales.ts'
import type { SmallDisk } from './small-disk.ts'
import type { World } from './world.ts'

/** A platform that sells, and the address of its database. */
export type Shop = Pick<World, 'processes' | 'settings' | 'database' | 'at'> & {
  connection: { host: string; port: number }
}

export type Figures = { sales: number; fills: number; refused: number; uploadsRefused: number; slowestMs: number }

const uploadedLines = 8_000
const sellers = 12
/** How long the disk stays full after the first refusal. */
const fullMs = 3_000

/**
 * Sells while the disk is repeatedly filled and emptied, then proves that acknowledged writes exist and the books are
 * right.
 *
 * @param given.profiles how many were in stock at the beginning
 * @param given.goesOn called before each round with the number of rounds so far
 */
export async function sellOnFullDisk(
  shop: Shop,
  disk: SmallDisk,
  given: { profiles: number; goesOn(rounds: number): boolean },
): Promise<Figures> {
  const sales: Sale[] = []
  let selling = true
  const sold = Promise.all(range(sellers).map(() => sell(shop.at, sales, () => selling)))
  // Errors here are reported at the end, not before.
  sold.catch(() => {})
  const figures: Figures = { sales: 0, fills: 0, refused: 0, uploadsRefused: 0, slowestMs: 0 }
  let profiles = given.profiles
  try {
    for (; given.goesOn(figures.fills); figures.fills++) {
      const before = sales.length
      await until('sales go on', () => sales.length > before + 20)
      profiles += await fillOnce(shop, disk, figures, sales)
    }
  } finally {
    selling = false
  }
  await sold
  figures.sales = sales.length
  await prove(shop, { sales, profiles })
  return figures
}

/** @returns how many profiles were uploaded */
async function fillOnce(shop: Shop, disk: SmallDisk, figures: Figures, sales: Sale[]): Promise<number> {
  const file = [...profileLines({ count: uploadedLines, seed: 100 + figures.fills })].join('')
  const inTheMiddle = upload(shop, file)
  inTheMiddle.catch(() => {})
  await sleep(randomInt(300))
  await disk.fill()
  const roomAgain = new AbortController()
  // The server's write-ahead log takes disk space in steps of 16 MB, so it needs new space only at the end of a step.
  // Every other round makes the log grow to that point.
  const growing = figures.fills % 2 === 1 ? growLog(shop, roomAgain.signal) : undefined
  try {
    figures.refused += await askUntilRefused(shop, sales)
    const answers = [await inTheMiddle, await upload(shop, file)]
    for (const { status } of answers) assert.ok(status === 200 || status === 503, `an upload: ${status}`)
    figures.uploadsRefused += answers.filter(({ status }) => status === 503).length
  } finally {
    roomAgain.abort()
    await growing
  }
  await disk.makeRoom()
  const since = performance.now()
  for (const index of range(shop.processes.length)) {
    const { body } = await persist(() => shop.at(index).reserve(`room-${randomInt(2 ** 47)}`), [201])
    await persist(() => shop.at(index).cancel(body.orderId), [200])
  }
  const tookMs = Math.round(performance.now() - since)
  assert.ok(tookMs < recoverWithinMs(), `it took ${tookMs} ms until sales went on`)
  figures.slowestMs = Math.max(figures.slowestMs, tookMs)
  // After a 200 the whole file must be in stock, even if something failed in between.
  const repeated = await upload(shop, file)
  assert.equal(repeated.status, 200, repeated.text)
  const { imported, duplicates } = lastLine(repeated.text)
  assert.ok(imported === uploadedLines || duplicates === uploadedLines, repeated.text)
  return uploadedLines
}

const operatorOf = ({ settings }: Shop): { token: string } => ({ token: settings.OPERATOR_KEY ?? '' })

const upload = (shop: Shop, file: string) =>
  (shop.processes[0] ?? assert.fail()).call('POST', '/admin/profiles?operator=kyivstar&tariff=eu-10gb', {
    ...operatorOf(shop),
    raw: file,
    headers: { 'content-type': 'text/csv' },
  })

const lastLine = (text: string) => JSON.parse(text.trim().split('\n').at(-1) ?? '').result

/**
 * Sends all kinds of requests until a sale is refused, and continues for a while.
 * @returns how many answers were 503
 */
async function askUntilRefused(shop: Shop, sales: Sale[]): Promise<number> {
  let refused = 0
  let endAt = Number.POSITIVE_INFINITY
  // PostgreSQL first uses the space that is still free within its tables, so sales succeed for a while although the disk
  // is full. A slow machine takes longer to use up that space.
  const giveUpAt = performance.now() + 120_000
  for (let index = 0; performance.now() < endAt; index++) {
    assert.ok(performance.now() < giveUpAt, 'the disk is full and sales go on all the same')
    const bank = shop.at(index)
    const externalId = `full-${randomInt(2 ** 47)}`
    const answer = await bank.reserve(externalId)
    if (answer.status === 201) sales.push({ externalId, orderId: answer.body.orderId, state: 'reserved' })
    const answers = [answer, await bank.tariffs(), ...(sales[0] ? [await bank.read(sales[0].orderId)] : [])]
    for (const each of answers) {
      if (each.status === 503) assertError(each, 503, /temporarily unavailable|at once/)
      else assert.ok(each.status < 300, `${each.method} ${each.path}: ${each.text}`)
    }
    refused += answers.filter(({ status }) => status === 503).length
    if (answer.status === 503) endAt = Math.min(endAt, performance.now() + fullMs)
    await others(shop, index)
    await sleep(50)
  }
  return refused
}

/** Other requests while the disk is full: health, a token, the directory, the audit. */
async function others(shop: Shop, index: number): Promise<void> {
  const process = shop.processes[index % shop.processes.length] ?? assert.fail()
  const operator = operatorOf(shop)
  const credential = { bank: 'alpha', role: 'VIEWER', label: 'full' }
  const answers = [
    await process.call('GET', '/health/live'),
    await process.call('GET', '/health/ready'),
    await process.call('POST', '/admin/credentials', { ...operator, body: credential }),
    await process.call('GET', '/admin/stock', operator),
    await process.call('GET', '/admin/audit', operator),
  ]
  for (const { status, text } of answers) assert.ok(status < 300 || status === 503, `${status}: ${text}`)
  assert.equal(answers[0]?.status, 200)
}

/** Makes the server write as much of its write-ahead log as it can, again after each restart. */
async function growLog(shop: Shop, ended: AbortSignal): Promise<void> {
  while (!ended.aborted) {
    const client = new pg.Client({
      ...shop.connection,
      user: 'postgres',
      database: 'postgres',
      connectionTimeoutMillis: 2_000,
    })
    client.on('error', () => {})
    try {
      await client.connect()
      while (!ended.aborted) await client.query(`select pg_logical_emit_message(false, 'full', repeat('x', 1000000))`)
    } catch {
      await sleep(100)
    } finally {
      await client.end().catch(() => {})
    }
  }
}

const errorsOf = (process: PerklineProcess): string =>
  (process.output().match(/^.*("unexpected error"|"statusCode":500).*$/gm) ?? []).join('\n')

async function prove(shop: Shop, { sales, profiles }: { sales: Sale[]; profiles: number }): Promise<void> {
  for (const process of shop.processes) assert.equal(errorsOf(process), '')
  await proveSales(shop.at, sales)
  const books = await proveBooks(shop.database, new Date())
  assert.equal(books.profiles, profiles)
  assert.equal(books.sold, sales.filter(({ state }) => state === 'confirmed').length)
  const [first = assert.fail()] = shop.processes
  const audit = await first.admin('GET', '/audit').catch(error => assert.fail(`${error}\n${errorsOf(first)}`))
  assert.equal(audit.ok, true, JSON.stringify(audit))
  for (const process of shop.processes) assert.match(process.output(), /"msg":"unavailable"/)
  assert.ok(
    shop.processes.some(process => process.output().includes('"code":"53100"')),
    'no log says why',
  )
}
