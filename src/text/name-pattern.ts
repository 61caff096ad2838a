import Type from 'typebox'

/** Of the queries of lists. */
export const nameParameter = {
  name: Type.Optional(
    Type.String({ maxLength: 100, description: 'Part of the name, in any case', examples: ['осінь'] }),
  ),
}

/**
 * Finds a part of a name in any case, in every alphabet: `ilike` and `lower` know only ASCII in a database whose locale is C, such as
 * the embedded one.
 *
 * @returns a regular expression of PostgreSQL that stands for this text, each character in both cases
 */
export const namePattern = (part: string): string => [...part].map(inAnyCase).join('')

function inAnyCase(character: string): string {
  const [lower, upper] = [character.toLowerCase(), character.toUpperCase()]
  const spellings = new Set([character, lower, upper, upper.toLowerCase(), lower.toUpperCase()])
  // A letter such as ß has two letters as its capital: those are another text.
  return `[${[...spellings]
    .filter(one => [...one].length === 1)
    .map(escaped)
    .join('')}]`
}

/** By its number, so that no character has a meaning of its own. */
const escaped = (character: string): string => `\\U${(character.codePointAt(0) ?? 0).toString(16).padStart(8, '0')}`
