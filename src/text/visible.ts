/**
 * Characters that a name for people must not have, as parts of a regular expression's class. The syntax means the same in all
 * regular expression engines, because the published schemas contain it.
 */

export const controls = '\\x00-\\x1f\\x7f-\\x9f'

/**
 * Characters that cannot be seen, that end a line, or that turn the direction of the text. With them one name could pass for
 * another. Joiners (U+200C and U+200D) are allowed, because words of some languages and many emoji need them.
 */
export const invisible = '\\xad\\u061c\\u180e\\u200b\\u200e\\u200f\\u2028-\\u202e\\u2060-\\u206f\\ufeff'
