/** The entity tag of a bank's list. Answers with different bytes have different tags. */
import { createHash } from 'node:crypto'
import type { ListFilters } from './list-store.ts'

/**
 * The version of the JSON format; it is a part of every tag. Increase it when a new version of the program writes
 * different JSON for the same campaigns. Stored tags of clients then no longer match, and clients read the list again.
 */
const form = 2

/**
 * Makes the tag.
 *
 * @param params.version the number of changes to the list that the bank can see
 */
export function listTag(params: { version: number; bankId: string; filters: ListFilters; encoding: string }): string {
  const { version, bankId, filters, encoding } = params
  const queryHash = createHash('sha256')
    .update(JSON.stringify([form, bankId, filters]))
    .digest('base64url')
    .slice(0, 16)
  return `"${version}-${queryHash}${encoding === 'identity' ? '' : `-${encoding}`}"`
}
