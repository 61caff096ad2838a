/** Reads the search parameters for a campaign's terminals. */

import { DomainError } from '../../errors.ts'
import { instantRule, readBound } from '../../text/instant.ts'
import { namePattern } from '../../text/name-pattern.ts'
import type { TerminalSearch } from './terminal-store.ts'

/** @throws DomainError 'invalid' when `since` is not a date */
export function terminalSearch(query: { search?: string | undefined; since?: string | undefined }): TerminalSearch {
  const since = query.since === undefined ? null : readBound(query.since)
  if (query.since !== undefined && since === null)
    throw new DomainError('invalid', [{ field: 'since', ...instantRule }])
  return { pattern: query.search ? namePattern(query.search) : null, since }
}
