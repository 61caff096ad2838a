import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setTimeout as sleep, setImmediate as turn } from 'node:timers/promises'
import { type Batcher, createBatcher, createSharedRead } from '../../../src/db/batching.ts'
import { until } from '../../support/esim.ts'

class Full extends Error {}

type Options = { maxItems?: number; inFlight?: number; maxWaiting?: number }

/** A batcher whose statements end when the test says so; the result of each item is ten times the item. */
function heldBatcher(options: Options = {}) {
  const statements: { items: number[]; end(results?: (number | Error)[]): void; fail(error: Error): void }[] = []
  const ask: Batcher<number, number> = createBatcher({
    run: items =>
      new Promise((resolve, reject) => {
        const results = items.map(item => item * 10)
        statements.push({ items, end: (given = results) => resolve(given), fail: reject })
      }),
    ...{ maxItems: 64, inFlight: 2, maxWaiting: 1_000 },
    ...options,
    onFull: () => new Full(),
  })
  return { ask, statements, sizes: () => statements.map(({ items }) => items.length) }
}

/** Asks for one item alone, ends its statement, and returns the result. */
async function answerOf(ask: Batcher<number, number>, statements: { end(): void }[]): Promise<number> {
  const answer = ask(9)
  await turn()
  statements.at(-1)?.end()
  return answer
}

/** Waits two turns of the event loop: a statement ends in the first turn, and the next statement begins in the second. */
const turnAfter = async () => {
  await turn()
  await turn()
}

const range = (count: number) => Array.from({ length: count }, (_, index) => index)
/** The current state of a promise. */
const settled = (promise: Promise<unknown>) => Promise.race([promise, turn('pending')])

test('items that arrive in one turn share one statement and get their own results in order', async () => {
  const { ask, statements } = heldBatcher()
  const answers = range(10).map(item => ask(item))
  await turn()
  assert.deepEqual(
    statements.map(({ items }) => items),
    [range(10)],
  )
  statements[0]?.end()
  assert.deepEqual(
    await Promise.all(answers),
    range(10).map(item => item * 10),
  )
})

test('a lone item waits for no other', async () => {
  const { ask, statements } = heldBatcher()
  const answer = ask(7)
  await turn()
  assert.deepEqual(statements[0]?.items, [7])
  statements[0]?.end()
  assert.equal(await answer, 70)
})

test('a statement has at most so many items, and so many statements run at once', async () => {
  const { ask, statements, sizes } = heldBatcher({ maxItems: 4, inFlight: 2 })
  const answers = range(11).map(item => ask(item))
  await turn()
  assert.deepEqual(sizes(), [4, 4])
  statements[1]?.end()
  await turnAfter()
  assert.deepEqual(sizes(), [4, 4], 'three do not fill a second one')
  statements[0]?.end()
  await turnAfter()
  assert.deepEqual(sizes(), [4, 4, 3])
  for (const { end } of statements) end()
  assert.deepEqual(
    await Promise.all(answers),
    range(11).map(item => item * 10),
  )
})

test('what arrives while all statements are busy goes together into the next', async () => {
  const { ask, statements, sizes } = heldBatcher({ inFlight: 1 })
  const first = ask(1)
  await turn()
  const later = [ask(2)]
  await turn()
  later.push(ask(3), ask(4))
  await turn()
  assert.deepEqual(sizes(), [1])
  statements[0]?.end()
  assert.equal(await first, 10)
  await turnAfter()
  assert.deepEqual(statements[1]?.items, [2, 3, 4])
  statements[1]?.end()
  assert.deepEqual(await Promise.all(later), [20, 30, 40])
})

test('items that arrive in the turn in which a statement ends join the waiting items in the next statement', async () => {
  const { ask, statements } = heldBatcher({ inFlight: 1 })
  const first = ask(1)
  await turn()
  const later = [ask(2)]
  await turn()
  void turn().then(() => later.push(ask(3)))
  statements[0]?.end()
  assert.equal(await first, 10)
  await turnAfter()
  assert.deepEqual(statements[1]?.items, [2, 3])
  statements[1]?.end()
  assert.deepEqual(await Promise.all(later), [20, 30])
})

test('a statement that hangs delays no other statement, up to the number of concurrent statements', async () => {
  const { ask, statements, sizes } = heldBatcher({ maxItems: 4, inFlight: 2 })
  const held = [ask(1)]
  await turn()
  const other = ask(2)
  await turn()
  assert.deepEqual(sizes(), [1], 'the first one may be through in a moment')
  await until('the next one begins beside it', () => sizes().length === 2)
  statements[1]?.end()
  assert.equal(await other, 20)
  const third = ask(3)
  await turn()
  assert.deepEqual(sizes(), [1, 1, 1], 'and from then on at once')
  held.push(third, ask(4), ask(5), ask(6), ask(7))
  await sleep(100)
  assert.deepEqual(sizes(), [1, 1, 1], 'two hang')
  statements[0]?.end()
  await turnAfter()
  assert.deepEqual(sizes(), [1, 1, 1, 4])
  for (const { end } of statements) end()
  assert.deepEqual(await Promise.all(held), [10, 30, 40, 50, 60, 70])
  assert.equal(await answerOf(ask, statements), 90, 'and all are free again')
})

test('a failed statement fails its own items and no other', async () => {
  const { ask, statements } = heldBatcher({ maxItems: 2, inFlight: 2 })
  const answers = range(4).map(item => ask(item))
  await turn()
  statements[0]?.fail(new Error('lost'))
  statements[1]?.end()
  const outcomes = await Promise.allSettled(answers)
  assert.deepEqual(
    outcomes.map(({ status }) => status),
    ['rejected', 'rejected', 'fulfilled', 'fulfilled'],
  )
  const next = ask(9)
  await turn()
  statements[2]?.end()
  assert.equal(await next, 90, 'and the next one runs')
})

test('an item may fail alone', async () => {
  const { ask, statements } = heldBatcher()
  const answers = range(3).map(item => ask(item))
  await turn()
  statements[0]?.end([1, new Error('this one'), 3])
  const outcomes = await Promise.allSettled(answers)
  assert.deepEqual(
    outcomes.map(({ status }) => status),
    ['fulfilled', 'rejected', 'fulfilled'],
  )
})

test('an item without a result fails instead of waiting for ever', async () => {
  const { ask, statements } = heldBatcher()
  const answers = range(2).map(item => ask(item))
  await turn()
  statements[0]?.end([1])
  assert.equal(await answers[0], 1)
  await assert.rejects(answers[1] ?? Promise.resolve(), /fewer results/)
})

test('beyond the bound of the queue items are refused at once, and taken again when there is room', async () => {
  const { ask, statements } = heldBatcher({ maxItems: 2, inFlight: 1, maxWaiting: 3 })
  const running = [ask(1), ask(2)]
  await turn()
  const waiting = range(3).map(item => ask(item))
  await assert.rejects(ask(99), Full)
  statements[0]?.end()
  await Promise.all(running)
  await turnAfter()
  const again = ask(5)
  assert.equal(await settled(again), 'pending')
  for (let index = 1; index <= 2; index++) {
    statements[index]?.end()
    await turnAfter()
  }
  assert.deepEqual(await Promise.all([...waiting, again]), [0, 10, 20, 50])
})

test('a shared read never answers with what was read before the question', async () => {
  const reads: ((value: number) => void)[] = []
  const read = createSharedRead(() => new Promise<number>(resolve => reads.push(resolve)))
  const early = [read(), read()]
  await turn()
  assert.equal(reads.length, 1, 'those who ask together share one read')
  const late = [read(), read()]
  await turn()
  assert.equal(reads.length, 2, 'who asks later gets one that began later')
  const latest = [read(), read()]
  await turn()
  assert.equal(reads.length, 2, 'a third waits for one of them')
  reads[0]?.(1)
  assert.deepEqual(await Promise.all(early), [1, 1])
  await turn()
  assert.equal(reads.length, 3)
  reads[2]?.(3)
  reads[1]?.(2)
  assert.deepEqual(await Promise.all([...late, ...latest]), [2, 2, 3, 3])
})

test('a shared read that fails, fails for those who shared it, and the next is a new one', async () => {
  let count = 0
  const read = createSharedRead(async () => {
    if (++count === 1) throw new Error('away')
    return count
  })
  const outcomes = await Promise.allSettled([read(), read()])
  assert.deepEqual(
    outcomes.map(({ status }) => status),
    ['rejected', 'rejected'],
  )
  assert.equal(await read(), 2)
})

test('of many shared reads one after the other never more than two run at once', async () => {
  let running = 0
  let most = 0
  const read = createSharedRead(async () => {
    most = Math.max(most, ++running)
    await turn()
    await turn()
    running--
  })
  const asked: Promise<void>[] = []
  for (let index = 0; index < 50; index++) {
    asked.push(read())
    if (index % 3 === 0) await turn()
  }
  await Promise.all(asked)
  assert.equal(most, 2)
})
