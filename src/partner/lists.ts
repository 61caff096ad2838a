/** Lists of the Partner API, which are read page by page with an opaque cursor (contract/partner-api.md, "Lists"). */
import { createHash } from 'node:crypto'
import Type, { type TSchema } from 'typebox'
import type { Account } from '../caller.ts'
import { DomainError } from '../errors.ts'
import { isDay } from '../text/days.ts'
import { isUuid } from '../text/uuid.ts'

const maxLimit = 500
const maxCursorLength = 256

export const listParameters = {
  limit: Type.Integer({ minimum: 1, maximum: maxLimit, default: 100, description: 'Most items of one answer' }),
  cursor: Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: maxCursorLength,
      description: 'The `nextCursor` of an earlier answer, with the same filters and the same sort. It does not expire',
      examples: ['WzQyXQ.Vf8mRz1xq0kQy1aJ'],
    }),
  ),
}

/** The field of an answer with the next page's cursor. */
export const nextCursor = Type.Union([Type.String(), Type.Null()], {
  description: 'Give it as `cursor` to go on. Null: there is nothing more',
  examples: ['WzQyXQ.Vf8mRz1xq0kQy1aJ'],
})

/** The answer's schema for a list that is read from the newest item to the oldest. */
export const newestFirstOf = <Item extends TSchema>(item: Item, description: string) =>
  Type.Object(
    {
      data: Type.Array(item, { description: 'The items, newest first' }),
      nextCursor,
    },
    { description },
  )

/** The list that a cursor belongs to. A cursor is refused with another list, account, filter or sort. */
export type ListScope = {
  /** The name of the operation. */
  list: string
  account: Account
  /** The query's parameters without `limit` and `cursor`. */
  filters: Readonly<Record<string, unknown>>
  sort?: string
}

/**
 * A position in a list: values of the last item of a page. The next page begins after this item. In most lists these
 * are the values that the list is sorted by, with the item's id as the last one. An empty position is the beginning of
 * the list.
 */
export type Position = readonly (string | number)[]

/**
 * The form of one key in a cursor's position. `number`: whole, not negative; `id`: a UUID; `time`: ISO 8601 in UTC with
 * milliseconds, in the years 1000 to 9999; `day`: `yyyy-mm-dd`.
 */
export type KeyKind = 'number' | 'id' | 'time' | 'day'

export function writeCursor(scope: ListScope, position: Position): string {
  const cursor = cursorOf(scope, position)
  if (cursor.length > maxCursorLength) throw new Error('The position is too long for a cursor')
  return cursor
}

/**
 * Makes a cursor from the position and a digest, which reveals a changed cursor. The digest needs no secret: queries
 * filter by account, so a forged cursor can show only the account's own items. Without a secret, cursors also stay
 * valid when the platform's keys change.
 */
const cursorOf = (scope: ListScope, position: Position): string =>
  `${encode(JSON.stringify(position))}.${digestOf(scope, position)}`

/**
 * Reads the position from a cursor.
 *
 * @param kinds the kinds of the keys in positions of this list. They are checked, because the keys of a forged cursor
 *   could make a query fail
 * @returns the position; null without a cursor, which means the beginning of the list
 * @throws DomainError 'invalid' when the cursor was changed, or belongs to another list, account, filter or sort
 */
export function readCursor(scope: ListScope, cursor: string | undefined, kinds: readonly KeyKind[]): Position | null {
  if (cursor === undefined) return null
  const position = positionIn(cursor)
  if (position === null || !isOfKinds(position, kinds) || cursorOf(scope, position) !== cursor)
    throw new DomainError('invalid', ['cursor must be the nextCursor of an answer with the same filters'])
  return position
}

/**
 * Whether a position has keys of these kinds. A list that grows also has a position without keys: its start, before
 * the first item.
 */
const isOfKinds = (position: Position, kinds: readonly KeyKind[]): boolean =>
  position.length === 0 ||
  (position.length === kinds.length && position.every((key, index) => isOfKind(key, kinds[index])))

function isOfKind(key: string | number, kind: KeyKind | undefined): boolean {
  if (typeof key === 'number') return kind === 'number' && Number.isSafeInteger(key) && key >= 0
  if (kind === 'id') return isUuid(key)
  return kind === 'time' ? isTime(key) : kind === 'day' && isDay(key)
}

/** An instant as `Date` writes it, in a year that the database can store. */
const isTime = (text: string): boolean =>
  /^[1-9]\d{3}-.{19}$/.test(text) && !Number.isNaN(Date.parse(text)) && new Date(text).toISOString() === text

function positionIn(cursor: string): Position | null {
  const [text = ''] = cursor.split('.', 1)
  try {
    const position: unknown = JSON.parse(Buffer.from(text, 'base64url').toString())
    return Array.isArray(position) && position.every(isKey) ? position : null
  } catch (error) {
    if (error instanceof SyntaxError) return null
    throw error
  }
}

const isKey = (value: unknown): value is string | number => typeof value === 'string' || typeof value === 'number'

const encode = (text: string): string => Buffer.from(text).toString('base64url')

function digestOf({ list, account, filters, sort = '' }: ListScope, position: Position): string {
  const filterPairs = Object.entries(filters)
    .filter(([, value]) => value !== undefined)
    // The order of several values of a filter does not matter.
    .map(([name, value]) => [name, Array.isArray(value) ? [...new Set(value)].sort() : value] as const)
    .sort(([one], [other]) => (one < other ? -1 : 1))
  return createHash('sha256')
    .update(JSON.stringify([list, account.type, account.id, filterPairs, sort, position]))
    .digest('base64url')
    .slice(0, 16)
}

type Rows<Row> = {
  scope: ListScope
  limit: number
  positionOf(row: Row): Position
}

/**
 * Makes a page of a list that has an end, such as a list from the newest item to the oldest.
 *
 * @param rows in the order of the list; one more than `limit` when there is another page
 */
export function finitePage<Row, View>(rows: readonly Row[], of: Rows<Row>, view: (row: Row) => View) {
  const shown = rows.slice(0, of.limit)
  const last = rows.length > of.limit ? shown.at(-1) : undefined
  return { data: shown.map(view), nextCursor: last === undefined ? null : writeCursor(of.scope, of.positionOf(last)) }
}

/**
 * Makes a page of a list that grows at its end. Every page has a next cursor, because more items may follow later.
 *
 * @param rows in the order of the list, at most `limit`
 * @param of.from the position where this page begins
 */
export function growingPage<Row, View>(
  rows: readonly Row[],
  of: Rows<Row> & { from: Position },
  view: (row: Row) => View,
) {
  const last = rows.at(-1)
  return { data: rows.map(view), nextCursor: writeCursor(of.scope, last === undefined ? of.from : of.positionOf(last)) }
}
