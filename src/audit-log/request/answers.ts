/** Responses with audit log entries, for the Partner API and the operator. */
import { Readable } from 'node:stream'
import type { FastifyReply } from 'fastify'
import type { Static } from 'typebox'
import type { Account } from '../../caller.ts'
import type { Queryable } from '../../db/database.ts'
import { readCursor, writeCursor } from '../../partner/lists.ts'
import { readFromTo, type Span } from '../../text/span.ts'
import { readLines } from '../lines-store.ts'
import type { LogAccount } from '../read-store.ts'
import { readEntries } from '../reads.ts'
import type { EntriesQuery } from '../schemas.ts'
import { entryView } from '../views.ts'

/** @param params.reader the account for which the caller acts */
export async function listEntries(params: {
  database: Queryable
  reader: Account
  query: Static<typeof EntriesQuery>
}) {
  const { database, reader } = params
  const { limit, cursor, ...filters } = params.query
  const scope = { list: 'audit-log', account: reader, filters }
  const [before = null] = readCursor(scope, cursor, ['number']) ?? []
  const { entries, names, next } = await readEntries(
    { database },
    {
      reader,
      accountId: filters.account,
      search: { ...readFromTo(filters), ...searchOf(filters) },
      page: { before: before === null ? null : Number(before), limit },
    },
  )
  return {
    data: entries.map(entry => entryView(entry, names, reader.type === 'platform')),
    nextCursor: next === null ? null : writeCursor(scope, [next]),
  }
}

type Filters = { action?: string; actor?: string; object?: string }

const searchOf = ({ action, actor, object }: Filters) => ({
  action: action ?? null,
  actor: actor ?? null,
  object: object === undefined ? null : objectOf(object),
})

function objectOf(text: string): { type: string; id: string | null } {
  const at = text.indexOf(':')
  return at === -1 ? { type: text, id: null } : { type: text.slice(0, at), id: text.slice(at + 1) }
}

/**
 * Streams the log line by line, as fast as the client reads it. The lines of one account have only the hashes of its
 * own chain, which are enough to check them.
 */
export function sendLog(
  reply: FastifyReply,
  database: Queryable,
  { account, span }: { account: LogAccount; span: Span },
): FastifyReply {
  const texts = async function* () {
    for await (const lines of readLines(database, account, span))
      yield lines.map(line => `${JSON.stringify(lineOf(line, account === null))}\n`).join('')
  }
  return reply.type('application/x-ndjson; charset=utf-8').send(Readable.from(texts()))
}

type Line = { seq: number; entry: string; accountHash: Buffer; hash: Buffer }

/** @param isWhole whether the line also has the number and the hash of the log of all accounts */
function lineOf({ seq, entry, accountHash, hash }: Line, isWhole: boolean): object {
  const own = { entry, accountHash: accountHash.toString('hex') }
  return isWhole ? { seq, ...own, hash: hash.toString('hex') } : own
}
