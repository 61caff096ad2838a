/**
 * Characters that a name for people must not have, as parts of a regular expression's class. All engines of regular
 * expressions read this syntax in the same way. That is necessary, because the published schemas contain it.
 */

export const controls = '\\x00-\\x1f\\x7f-\\x9f'

/**
 * The part of `invisible` that the published patterns contain: all but the line separators U+2028 and U+2029. Some
 * generators of clients write a pattern as the literal of a regular expression, which must not contain these.
 */
export const documentedInvisible =
  '\\xad\\u034f\\u061c\\u115f\\u1160\\u17b4\\u17b5\\u180b-\\u180f\\u200b\\u200e\\u200f\\u202a-\\u202e\\u2060-\\u206f\\u2800\\u3164' +
  '\\ue000-\\uf8ff\\ufe00-\\ufe0e\\ufeff\\uffa0\\ufff0-\\ufffb'

/**
 * Characters that cannot be seen, that end a line, that turn the direction of the text, or that each font draws
 * differently. With such characters, a name could look like another name. Joiners (U+200C, U+200D) and U+FE0F are
 * allowed, because words of some languages and many emoji need them.
 */
export const invisible = `\\u2028\\u2029${documentedInvisible}`

/**
 * The invisible characters above U+FFFF. They are only for patterns that our own code checks, because not all engines
 * can write characters above U+FFFF.
 */
export const invisibleAbove =
  '\\u{1bca0}-\\u{1bca3}\\u{1d173}-\\u{1d17a}\\u{e0000}-\\u{e0fff}\\u{f0000}-\\u{ffffd}\\u{100000}-\\u{10fffd}'

/**
 * All characters that unique names must not have: the characters above, the joiners and U+FE0F. This pattern is also
 * only for our own code.
 */
export const everyInvisible = '\\p{C}\\p{Default_Ignorable_Code_Point}\\u2028\\u2029\\u2800'
