/**
 * Each advisory lock of PostgreSQL has a number of its own: otherwise two things that have nothing to do with each other
 * wait for each other.
 */
import assert from 'node:assert/strict'
import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'

const checkout = fileURLToPath(new URL('../..', import.meta.url))
const texts = globSync(['src/**/*.ts', 'migrations/*.sql'], { cwd: checkout }).map(file => ({
  file,
  text: readFileSync(join(checkout, file), 'utf8'),
}))

/** The numbers that a pattern finds, each with the files in which it stands. */
function filesByNumber(pattern: RegExp): Map<string, string[]> {
  const found = texts.flatMap(({ file, text }) =>
    [...text.matchAll(pattern)].map(([, number = '']) => ({ number: number.replaceAll('_', ''), file })),
  )
  return new Map(
    [...Map.groupBy(found, ({ number }) => number)].map(([number, each]) => [number, each.map(({ file }) => file)]),
  )
}

/** Our numbers begin with 7365. A lock of two numbers has such a number as its first one. */
const number = /\b(7_?365_?\d{3})\b/g
/** A lock of a text has the second argument of its hash as its number. */
const seed = /hashtextextended\([^()]*, (\d+)\)/g

test('no two advisory locks share a number', () => {
  for (const [pattern, atLeast] of [
    [number, 10],
    [seed, 2],
  ] as const) {
    const numbers = filesByNumber(pattern)
    assert.ok(numbers.size >= atLeast, `only ${numbers.size} numbers are found`)
    const shared = [...numbers].filter(([, files]) => files.length > 1)
    assert.deepEqual(shared, [])
  }
})

test('each file that takes an advisory lock has its number, or computes it', () => {
  const takes = /pg_(?:try_)?advisory_(?:xact_)?lock(?:_shared)?\(/
  const computes = /hashtext|createHash/
  const without = texts
    .filter(({ text }) => takes.test(text) && text.search(number) === -1 && !computes.test(text))
    .map(({ file }) => file)
  assert.deepEqual(without, [])
})
