/** Searches for a name in any case: each form of a letter finds all the others. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { namePattern } from '../../src/text/name-pattern.ts'

const codeOf = (character: string): string => (character.codePointAt(0) ?? 0).toString(16)
/** The characters that the pattern of one character matches. */
const matched = (character: string): string[] =>
  [...namePattern(character).matchAll(/\\U([0-9a-f]{8})/g)].map(([, code = '']) =>
    String.fromCodePoint(Number.parseInt(code, 16)),
  )

const table: [name: string, forms: string][] = [
  ['two forms', 'aA'],
  ['Cyrillic, two forms', 'їЇ'],
  ['sigma, with that of the end of a word', 'σΣς'],
  ['sharp s, whose usual capital is two letters', 'ßẞ'],
  ['a letter that has a title form', 'ǆǅǄ'],
  ['k and the sign of Kelvin', 'kK\u212a'],
  ['no other form', '7'],
  ['a dotted capital I is no i', 'İ'],
  ['a special character of patterns', '*'],
]
for (const [name, forms] of table)
  test(name, () => {
    for (const form of forms) assert.deepEqual(matched(form).sort(), [...forms].sort())
  })

test('all letters of Unicode', () => {
  const isCased = /\p{Changes_When_Casemapped}|\p{Changes_When_Casefolded}/u
  const cased = Array.from({ length: 0x110000 }, (_, code) => String.fromCodePoint(code)).filter(one =>
    isCased.test(one),
  )
  assert.ok(cased.length > 2_900)
  const text = cased.join('')
  for (const one of cased)
    assert.deepEqual(matched(one).sort(), text.match(new RegExp(`\\u{${codeOf(one)}}`, 'giu'))?.sort(), codeOf(one))
})
