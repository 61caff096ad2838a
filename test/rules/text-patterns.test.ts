/** The patterns of texts in the OpenAPI documents accept what the rules of the server accept. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { addDuration, durationPattern } from '../../src/text/duration.ts'
import {
  brokenRule,
  filledLinePattern,
  plainLine,
  plainLinePattern,
  visibleLine,
  visibleLinePattern,
} from '../../src/text/text-rules.ts'

/** All characters below U+10000 that are no half of a pair. The documented patterns cannot name others. */
const characters = Array.from({ length: 0x10000 }, (_, code) => String.fromCharCode(code)).filter(one =>
  one.isWellFormed(),
)

test('a pattern fits the same characters as its rule, alone and within a text', () => {
  for (const [rule, pattern] of [
    [plainLine, plainLinePattern],
    [visibleLine, visibleLinePattern],
  ] as const)
    for (const flags of ['', 'u']) {
      const form = new RegExp(pattern, flags)
      const differing = characters
        .flatMap(one => [one, `a${one}b`])
        .filter(text => form.test(text) !== (brokenRule(text, rule) === undefined))
      assert.deepEqual(differing, [], rule.rule)
    }
})

test('a filled line is a plain line with a character that is no space', () => {
  const form = new RegExp(filledLinePattern, 'u')
  const isFilled = (text: string) => brokenRule(text, plainLine) === undefined && text.trim() !== ''
  const differing = characters.flatMap(one => [one, `a${one}b`]).filter(text => form.test(text) !== isFilled(text))
  assert.deepEqual(differing, [])
})

test('patterns take linear time', () => {
  const takesLong = (pattern: string, flags: string, text: string) => {
    const startedMs = performance.now()
    assert.equal(new RegExp(pattern, flags).test(text), false)
    return performance.now() - startedMs >= 1_000
  }
  for (const pattern of [plainLinePattern, filledLinePattern, visibleLinePattern])
    for (const flags of ['', 'u'])
      for (const part of ['a', ' ', '\u00a0', '\u200b', 'a ', '\u200b\u2800'])
        assert.ok(!takesLong(pattern, flags, `${part.repeat(20_000)}\n`), pattern)
  for (const text of ['P', 'P1Y', 'PT1.', 'P1YT1H'])
    assert.ok(!takesLong(durationPattern, '', `${text}${'1'.repeat(100_000)}`), text)
})

test('the pattern of a duration fits every duration, and nothing else', () => {
  const form = new RegExp(durationPattern)
  const fits = (text: string) => [form.test(text), addDuration(new Date(0), text) !== null]
  for (const text of [
    'PT15M',
    'P30D',
    'P1Y2M3DT4H5M6S',
    'P2W',
    'PT0.5H',
    'PT0,123456789S',
    'PT0S',
    'P1DT1.5H',
    'P1,5W',
  ])
    assert.deepEqual(fits(text), [true, true], text)
  const refused = ['', 'P', 'PT', 'P1DT', '24h', 'PT1', 'P1H', 'PT1D', 'PT.5H', '-PT1H', 'pt1h', 'PT1H ', 'P1D\n']
  const disordered = [
    'PT1.5H30M',
    'P0.5Y',
    'P1,5M',
    'P1.5Y1M',
    'P1D1D',
    'PT1H1H',
    'P1M1Y',
    'PT1S1H',
    'P1.5DT1H',
    'P1DTT1H',
  ]
  for (const text of [...refused, ...disordered, 'PT1.0000000001S']) assert.deepEqual(fits(text), [false, false], text)
})

test('a duration has its units in order, and a fraction only in the last one, but not of years and months', () => {
  const form = new RegExp(durationPattern)
  // All durations whose numbers are 1, or 1.5 at the end.
  const units = ['Y', 'M', 'W', 'D', 'TH', 'TM', 'TS']
  const durations = new Set<string>()
  for (let chosen = 1; chosen < 2 ** units.length; chosen++) {
    const parts = units.filter((_, index) => chosen & (2 ** index))
    const text = (last: string) => {
      const numbered = parts.map((unit, index) => unit.replace(/.$/, `${index < parts.length - 1 ? '1' : last}$&`))
      return `P${numbered.join('').replace(/(?<=T.*)T/g, '')}`
    }
    durations.add(text('1'))
    if (!['Y', 'M'].includes(parts.at(-1) ?? '')) durations.add(text('1.5'))
  }
  assert.equal(durations.size, 2 * 127 - 3)
  // All texts of up to four parts, in any order and with repetitions.
  const parts = ['T', ...['Y', 'M', 'W', 'D', 'H', 'S'].flatMap(unit => [`1${unit}`, `1.5${unit}`])]
  let texts = ['P']
  const tried = [...durations]
  for (let count = 0; count <= 4; count++) {
    tried.push(...texts)
    texts = texts.flatMap(text => parts.map(part => text + part))
  }
  const isTold = (text: string) => addDuration(new Date(0), text) !== null
  const differing = tried.filter(
    text => form.test(text) !== durations.has(text) || isTold(text) !== durations.has(text),
  )
  assert.deepEqual(differing, [])
})
