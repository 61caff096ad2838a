/** How a file of customers gets into the database: as a stream, into a table that belongs to one transaction alone. */
import { pipeline } from 'node:stream/promises'
import { setImmediate as othersTurn } from 'node:timers/promises'
import type pg from 'pg'
import { from as copyFrom } from 'pg-copy-streams'
import { describeFaults } from '../csv-lines.ts'
import { queryable } from '../db/database.ts'
import { DomainError } from '../errors.ts'
import { type CustomerLine, readCustomerLines } from './customer-lines.ts'

const namedFaults = 20

/**
 * Reads a file to its end into the table `staged_customers (line, customer_id)`, which goes with the transaction.
 *
 * @param client in a transaction
 * @returns how many lines it has below the header
 * @throws DomainError 'invalid' for a file that is at fault: the first 20 faults by line, then the count of all
 */
export async function stageCustomers(
  client: pg.Client,
  source: AsyncIterable<unknown>,
  mostLines = Number.POSITIVE_INFINITY,
): Promise<number> {
  const transaction = queryable(client)
  await transaction.execute(
    'create temporary table staged_customers (line int not null, customer_id text collate "C" not null) on commit drop',
  )
  const counts = { staged: 0 }
  await pipeline(
    rowsOf(source, mostLines, counts),
    client.query(copyFrom('copy staged_customers (line, customer_id) from stdin')),
  )
  await transaction.execute('analyze staged_customers')
  return counts.staged
}

/** The lines in PostgreSQL's text format. */
async function* rowsOf(
  source: AsyncIterable<unknown>,
  mostLines: number,
  counts: { staged: number },
): AsyncGenerator<Buffer> {
  const named: string[] = []
  let faults = 0
  for await (const read of linesOf(source, mostLines)) {
    named.push(...read.faults.slice(0, namedFaults - named.length))
    faults += read.faults.length
    counts.staged += read.lines.length
    // Once nothing will be kept, only the faults are still to be counted.
    if (faults === 0) yield Buffer.from(read.lines.map(copyText).join(''))
    // A thousand lines take some milliseconds, and then other requests to this process have their turn.
    await othersTurn()
  }
  if (faults > 0) throw new DomainError('invalid', describeFaults(named, faults))
}

/** A source that fails is the caller's affair, and must not look like a database that is away. */
async function* linesOf(source: AsyncIterable<unknown>, mostLines: number): ReturnType<typeof readCustomerLines> {
  try {
    yield* readCustomerLines(source, mostLines)
  } catch (error) {
    if (error instanceof DomainError || 'statusCode' in Object(error)) throw error
    throw new DomainError('invalid', 'The file could not be read to its end; nothing was kept')
  }
}

/** An id has no control character: only the format's own escape is to be escaped. */
const copyText = ({ lineNumber, customerId }: CustomerLine): string =>
  `${lineNumber}\t${customerId.includes('\\') ? customerId.replaceAll('\\', '\\\\') : customerId}\n`
