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
  for (const pattern of [plainLinePattern, filledLinePattern, visibleLinePattern])
    for (const flags of ['', 'u'])
      for (const part of ['a', ' ', '\u00a0', '\u200b', 'a ', '\u200b\u2800']) {
        const startedMs = performance.now()
        assert.equal(new RegExp(pattern, flags).test(`${part.repeat(20_000)}\n`), false)
        assert.ok(performance.now() - startedMs < 1_000, pattern)
      }
})

test('the pattern of a duration fits every duration', () => {
  const form = new RegExp(durationPattern)
  for (const text of ['PT15M', 'P30D', 'P1Y2M3DT4H5M6S', 'P2W', 'PT0.5H', 'PT0,123456789S', 'PT0S', 'P1DT1.5H']) {
    assert.ok(addDuration(new Date(0), text), text)
    assert.ok(form.test(text), text)
  }
  for (const text of ['', 'P', 'PT', 'P1DT', '24h', 'PT1', 'P1H', 'PT1D', 'PT.5H', '-PT1H', 'pt1h', 'PT1H '])
    assert.ok(!form.test(text) && !addDuration(new Date(0), text), text)
})
