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
 * @returns a PostgreSQL regular expression that matches this text, each character in both cases
 */
export const namePattern = (part: string): string => [...part].map(inAnyCase).join('')

function inAnyCase(character: string): string {
  const [lower, upper] = [character.toLowerCase(), character.toUpperCase()]
  const spellings = new Set([character, lower, upper, upper.toLowerCase(), lower.toUpperCase()])
  // Keep only spellings that are one character. The capital of ß, for example, has two letters, and a bracket
  // expression matches only one character.
  return `[${[...spellings]
    .filter(one => [...one].length === 1)
    .map(escaped)
    .join('')}]`
}

/** A character written as its number, so that it has no special meaning in the pattern. */
const escaped = (character: string): string => `\\U${(character.codePointAt(0) ?? 0).toString(16).padStart(8, '0')}`
