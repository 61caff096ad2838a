/** The entity tag of a bank's list: another one for every answer that is not the same byte for byte. */
import { createHash } from 'node:crypto'
import type { ListFilters } from './list-store.ts'

/** To be raised when the same content is written in another way. */
const form = 1

/** @param given.version of what the bank sees; who asks, for what, and in which coding tell the rest */
export function listTag(given: { version: number; bankId: string; filters: ListFilters; encoding: string }): string {
  const { version, bankId, filters, encoding } = given
  const asked = createHash('sha256')
    .update(JSON.stringify([form, bankId, filters]))
    .digest('base64url')
    .slice(0, 16)
  return `"${version}-${asked}${encoding === 'identity' ? '' : `-${encoding}`}"`
}
