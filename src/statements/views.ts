/** Builds the answers about statements. */
import { downloadHeaders } from '../http/answer/download.ts'
import type { Statement } from './read-store.ts'
import type { StatementFile } from './reads.ts'

export function statementView(statement: Statement) {
  const { statementId, number, day, timeZone, from, to, closedAt, previousStatementId, ...rest } = statement
  const { commissionPercentage, totals, byTariff, late, sha256 } = rest
  return {
    statementId,
    number,
    closed: statementId !== null,
    day,
    timeZone,
    from: from.toISOString(),
    to: to.toISOString(),
    closedAt: closedAt?.toISOString() ?? null,
    previousStatementId,
    commissionPercentage,
    totals,
    byTariff,
    late,
    sha256,
  }
}

export const tagOf = ({ sha256 }: StatementFile): string => `"${sha256.toString('hex')}"`

const fileCaching = 'private, no-transform'

/** The headers of a file. The digest is over the exact bytes, so proxies must not transform them (`no-transform`). */
export const fileHeaders = (file: StatementFile): Record<string, string> => ({
  ...downloadHeaders(file.name),
  'repr-digest': `sha-256=:${file.sha256.toString('base64')}:`,
  etag: tagOf(file),
  'cache-control': fileCaching,
})

/** The header `cache-control` of `fileHeaders`, as the OpenAPI documents declare it. */
export const fileCachingHeader = {
  type: 'string',
  description: `Always \`${fileCaching}\`: store the file as it is, for yourself only`,
  examples: [fileCaching],
}
