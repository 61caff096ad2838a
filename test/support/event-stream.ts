/**
 * Writers whose transactions commit late or not at all, and readers that follow the feed at the same time. A check
 * compares what the readers saw with what was committed (contract/events.md, "The feed").
 */
import assert from 'node:assert/strict'
import { randomInt } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import type pg from 'pg'
import type { Database, Queryable, Statement } from '../../src/db/database.ts'
import { recordEvents } from '../../src/outbox/event-writing.ts'
import { expectAnswer } from './careful-client.ts'
import { range } from './esim.ts'
import type { PerklineProcess } from './process.ts'

/** How many of ten events of a subject have the type that a reader filters by. */
const filteredOfTen = 3
const filtered = 'catalogue.changed'
const rolledBackPercent = 10
const askAgainMs = 50

/** An event that a writer has committed. Each writer numbers its events 1, 2, 3, ... in the order of its commits. */
type Told = { committedAtMs: number }
export type Writing = {
  /** Committed events by their key. */
  told: ReadonlyMap<string, Told>
  rolledBack(): number
  /** Ends when every writer has ended its transaction. */
  done: Promise<unknown>
}
type WritingOptions = {
  writers: number
  eventsEach: number
  maxDelayMs: number
  /** While this is true, writers begin further transactions. `told` is the number of events committed so far. */
  goesOn(told: number): boolean
  /** Writers wait while this is false. Otherwise the backlog would grow without end and take hours to number. */
  hasRoom(told: number): boolean
}

const keyOf = (writer: number, version: number): string => `${writer}/${version}`

/** Connects to the database. It tries up to 20 times, because a busy server may not accept a connection at once. */
async function connectTo(database: Database): Promise<pg.Client> {
  for (let tried = 1; ; tried++) {
    try {
      return await database.connect()
    } catch (error) {
      if (tried === 20) throw error
    }
  }
}

/** Makes a transaction on a connection of our own; it has only the method that `recordEvents` uses. */
export const transactionOn = (client: pg.Client): Queryable =>
  ({ execute: (statement: Statement, values: unknown[]) => client.query(statement.text, values) }) as never

/**
 * Starts writers of events. Each writes events of one object, and pauses for up to `maxDelayMs` between its last
 * statement and the commit.
 */
export function startWriting(database: Database, bankId: string, options: WritingOptions): Writing {
  const told = new Map<string, Told>()
  let rolledBack = 0
  const eventOf = (writer: number, version: number, isKept: boolean) => ({
    type: version % 10 < filteredOfTen ? ('catalogue.changed' as const) : ('tariff.availability_changed' as const),
    at: null,
    banks: [bankId],
    data: { operatorCode: String(writer), tariffCode: String(version), available: isKept },
  })
  const write = async (writer: number) => {
    const client = await connectTo(database)
    try {
      for (let version = 1; options.goesOn(told.size); ) {
        if (!options.hasRoom(told.size)) {
          await sleep(askAgainMs)
          continue
        }
        const isKept = randomInt(100) >= rolledBackPercent
        const versions = range(options.eventsEach).map(n => version + n)
        await client.query('begin')
        await recordEvents(
          transactionOn(client),
          versions.map(one => eventOf(writer, one, isKept)),
        )
        await sleep(randomInt(options.maxDelayMs + 1))
        await client.query(isKept ? 'commit' : 'rollback')
        if (!isKept) {
          rolledBack += versions.length
          continue
        }
        const committedAtMs = performance.now()
        for (const one of versions) told.set(keyOf(writer, one), { committedAtMs })
        version += versions.length
      }
    } finally {
      await client.end()
    }
  }
  const done = Promise.all(range(options.writers).map(write))
  // An error is reported to the caller that awaits `done`.
  done.catch(() => {})
  return { told, rolledBack: () => rolledBack, done }
}

type Event = { sequence: number; type: string; data: { operatorCode: string; tariffCode: string; available: boolean } }
type Seen = { sequence: number; key: string; isKept: boolean; seenAtMs: number }
export type Reader = {
  name: string
  query: string
  seen: Seen[]
  /** Stops the reader once it has read up to the sequence. */
  readTo(last: number): Promise<void>
  /** Stops the reader at once. */
  stop(): void
  /** Whether the reader has ended, normally or because of a wrong answer. */
  isOver(): boolean
}

/**
 * Follows the feed as the guide says: each request sends the last `nextAfter` and `feedId`. It repeats failed requests.
 *
 * @param query further parameters: a long poll, a filter
 */
export function startReading(
  processes: readonly PerklineProcess[],
  token: string,
  { name, query }: { name: string; query: string },
): Reader {
  const seen: Seen[] = []
  let [after, feedId, readTo, isWrong] = [0, '', Number.POSITIVE_INFINITY, '']
  const reading = (async () => {
    for (let turn = 0; after < readTo; turn++) {
      const path = `/partner/v1/events?after=${after}&limit=1000${query}${feedId && `&feedId=${feedId}`}`
      const answer = await processes[turn % processes.length]?.call('GET', path, { token }).catch(() => null)
      if (!answer || answer.status === 503) {
        await sleep(askAgainMs)
        continue
      }
      if (answer.status !== 200) isWrong ||= `${answer.status} ${answer.text}`
      if (isWrong) return
      const seenAtMs = performance.now()
      for (const { sequence, data } of answer.body.data as Event[])
        seen.push({ sequence, key: `${data.operatorCode}/${data.tariffCode}`, isKept: data.available, seenAtMs })
      if (answer.body.nextAfter === after) await sleep(askAgainMs)
      ;({ nextAfter: after, feedId } = answer.body)
    }
  })()
  let isOver = false
  reading
    .catch(() => {})
    .finally(() => {
      isOver = true
    })
  return {
    name,
    isOver: () => isOver,
    query,
    seen,
    stop() {
      readTo = 0
    },
    async readTo(last) {
      readTo = last
      await reading
      assert.equal(isWrong, '', name)
    },
  }
}

/** Waits until all committed events are in the feed. @returns the last sequence number */
export async function endOfFeed(processes: readonly PerklineProcess[], token: string): Promise<number> {
  const asked = { method: 'GET', path: '/partner/v1/events?after=now', token }
  return (await expectAnswer(processes, asked, 200)).nextAfter
}

/**
 * Fails unless the reader saw every committed event exactly once, no event that was rolled back, and the events of each
 * subject in their order. Without a filter, the sequences must have no gaps.
 */
export function proveSeen({ name, query, seen }: Reader, { told }: Pick<Writing, 'told'>): void {
  const own = seen.filter(({ key }) => told.has(key) || /^\d+\/\d+$/.test(key))
  assert.deepEqual(
    own.filter(({ isKept }) => !isKept),
    [],
    `${name}: rolled back`,
  )
  for (const [index, { sequence }] of seen.entries()) {
    const before = seen[index - 1]?.sequence ?? 0
    if (query.includes('type=')) assert.ok(sequence > before, `${name}: ${sequence} after ${before}`)
    else assert.equal(sequence, before + 1, `${name}: a hole or a late arrival`)
  }
  const wanted = [...told.keys()].filter(key => !query.includes('type=') || isFiltered(key))
  assert.equal(own.length, wanted.length, `${name}: twice or never`)
  const there = new Set(own.map(({ key }) => key))
  assert.deepEqual(
    wanted.filter(key => !there.has(key)),
    [],
    `${name}: lost`,
  )
  const versions = new Map<string, number>()
  for (const { key } of own) {
    const [writer = '', version] = key.split('/')
    assert.ok(Number(version) > (versions.get(writer) ?? 0), `${name}: ${key} is out of order`)
    versions.set(writer, Number(version))
  }
}

const isFiltered = (key: string): boolean => Number(key.split('/')[1]) % 10 < filteredOfTen

/** The readers of an experiment. Each reads the feed in a different way. */
export const readers = [
  { name: 'by after', query: '' },
  { name: 'by long poll', query: '&wait=10' },
  { name: 'with a filter', query: `&wait=10&type=${filtered}` },
]

/** Returns the times from a commit to the answer that contained the event, in ms. */
export function lagsOf({ seen }: Reader, { told }: Writing): { p50: number; p99: number; max: number } {
  const lags = seen
    .flatMap(({ key, seenAtMs }) => {
      const written = told.get(key)
      return written ? [Math.max(0, seenAtMs - written.committedAtMs)] : []
    })
    .sort((one, other) => one - other)
  const at = (share: number) => Math.round(lags[Math.min(lags.length - 1, Math.floor(lags.length * share))] ?? 0)
  return { p50: at(0.5), p99: at(0.99), max: at(1) }
}
