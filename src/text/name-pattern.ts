/** Searches for a part of a name. */
import Type from 'typebox'

/** A parameter of list queries. */
export const nameParameter = {
  name: Type.Optional(
    Type.String({ maxLength: 100, description: 'Part of the name, in any case', examples: ['осінь'] }),
  ),
}

/**
 * Builds a search for a part of a name in any case and alphabet. `ilike` and `lower` know only ASCII in a database with the
 * locale C, such as the embedded one.
 *
 * @returns a PostgreSQL regular expression that matches this text, with each character in any of its forms by Unicode's
 *   simple case folding
 */
export const namePattern = (part: string): string => [...part].map(inAnyCase).join('')

function inAnyCase(character: string): string {
  const [lower, upper] = [character.toLowerCase(), character.toUpperCase()]
  const candidates = new Set([character, lower, upper, upper.toLowerCase(), lower.toUpperCase(), ...rareForms])
  const isForm = new RegExp(`^\\u{${codeOf(character)}}$`, 'iu')
  // Leave out spellings of several letters, such as SS for ß: a bracket expression matches only one character.
  const forms = [...candidates].filter(one => isForm.test(one))
  return `[${forms.map(escaped).join('')}]`
}

/**
 * Forms of letters that `toLowerCase` and `toUpperCase` do not always find: for example, they give no ς for Σ, and no ẞ
 * for ß. The test `name-pattern` compares them with Unicode's case folding.
 */
const rareForms = [
  ...['\u00b5', '\u017f', '\u01c5', '\u01c8', '\u01cb', '\u01f2', '\u1e9b', '\u1e9e', '\ufb05', '\ufb06'],
  // Greek
  ...['\u0345', '\u0390', '\u03b0', '\u03c2', '\u03d0', '\u03d1', '\u03d5', '\u03d6', '\u03f0', '\u03f1', '\u03f4'],
  ...['\u03f5', ...range(0x1f88, 0x1f8f), ...range(0x1f98, 0x1f9f), ...range(0x1fa8, 0x1faf), '\u1fbc', '\u1fbe'],
  ...['\u1fcc', '\u1fd3', '\u1fe3', '\u1ffc'],
  // Cyrillic of old books
  ...range(0x1c80, 0x1c88),
  // The signs of Ohm, Kelvin and Ångström
  ...['\u2126', '\u212a', '\u212b'],
]

function range(from: number, to: number): string[] {
  return Array.from({ length: to - from + 1 }, (_, place) => String.fromCodePoint(from + place))
}

const codeOf = (character: string): string => (character.codePointAt(0) ?? 0).toString(16)

/** A character written as its number, so that it has no special meaning in the pattern. */
const escaped = (character: string): string => `\\U${codeOf(character).padStart(8, '0')}`
