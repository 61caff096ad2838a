/** Loads a file of customers as a stream into a table that belongs to one transaction. */
import { pipeline } from 'node:stream/promises'
import { setImmediate as othersTurn } from 'node:timers/promises'
import type pg from 'pg'
import { from as copyFrom } from 'pg-copy-streams'
import { queryable } from '../db/database.ts'
import { DomainError } from '../errors.ts'
import { describeErrors } from '../text/csv-lines.ts'
import { type CustomerFileRules, type CustomerLine, readCustomerLines } from './customer-lines.ts'
import { type LineProblem, lineText } from './customer-rules.ts'

const shownErrors = 20
const listedLines = 100

/** Lines without a valid id: their count, and the numbers of the first ones. */
export type Malformed = { count: number; lines: number[] }

/**
 * Reads a file to its end into the table `staged_customers (line, customer_id)`, which is dropped with the transaction.
 *
 * @param client in a transaction
 * @returns the number of ids below the header; blank lines are skipped, and repeated ids are counted each time
 * @throws DomainError 'invalid' for an invalid file, with the first 20 errors and the number of all errors
 */
export async function stageCustomers(client: pg.Client, source: AsyncIterable<unknown>): Promise<number> {
  const rules: CustomerFileRules = { maxLines: Number.POSITIVE_INFINITY, blankLines: 'left-out' }
  const { staged, named, malformed } = await stage(client, source, { rules, keepsRest: false })
  if (malformed.count > 0) throw wrongLines(named, malformed.count)
  return staged
}

/**
 * The error for invalid lines. @param named the first errors, which the message shows @param count the number of all
 * errors
 */
export const wrongLines = (named: readonly LineProblem[], count: number): DomainError =>
  new DomainError('invalid', describeErrors(named.map(lineText), count), { problems: named, problemCount: count })

/**
 * Like `stageCustomers`, but invalid lines are left out.
 *
 * @returns the invalid lines
 * @throws DomainError 'invalid' for a file that cannot be read or has more than `maxLines`
 */
export async function stageWellFormed(
  client: pg.Client,
  source: AsyncIterable<unknown>,
  maxLines: number,
): Promise<Malformed> {
  const rules: CustomerFileRules = { maxLines, blankLines: 'errors' }
  return (await stage(client, source, { rules, keepsRest: true })).malformed
}

type Staging = { rules: CustomerFileRules; keepsRest: boolean }
type Staged = { staged: number; named: LineProblem[]; malformed: Malformed }

async function stage(client: pg.Client, source: AsyncIterable<unknown>, staging: Staging): Promise<Staged> {
  const transaction = queryable(client)
  await transaction.execute(
    'create temporary table staged_customers (line int not null, customer_id text collate "C" not null) on commit drop',
  )
  const result: Staged = { staged: 0, named: [], malformed: { count: 0, lines: [] } }
  await pipeline(
    rowsOf(source, staging, result),
    client.query(copyFrom('copy staged_customers (line, customer_id) from stdin')),
  )
  await transaction.execute('analyze staged_customers')
  return result
}

/** The lines in PostgreSQL's text copy format. */
async function* rowsOf(
  source: AsyncIterable<unknown>,
  { rules, keepsRest }: Staging,
  result: Staged,
): AsyncGenerator<Buffer> {
  const { named, malformed } = result
  for await (const { lines, errors } of linesOf(source, rules)) {
    malformed.count += errors.length
    malformed.lines.push(...errors.slice(0, listedLines - malformed.lines.length).map(({ line }) => line))
    named.push(...errors.slice(0, shownErrors - named.length))
    result.staged += lines.length
    // If `keepsRest` is false, nothing is stored after the first error. The rest is then read only to count errors.
    if (keepsRest || malformed.count === 0) yield Buffer.from(lines.map(copyText).join(''))
    // Let the process serve other requests between two batches of lines.
    await othersTurn()
  }
}

/** Reports an error of the uploaded file as 'invalid'. Otherwise it would look like a lost database connection. */
async function* linesOf(
  source: AsyncIterable<unknown>,
  rules: CustomerFileRules,
): ReturnType<typeof readCustomerLines> {
  try {
    yield* readCustomerLines(source, rules)
  } catch (error) {
    if (error instanceof DomainError || 'statusCode' in Object(error)) throw error
    throw new DomainError('invalid', 'The file could not be read to its end; nothing was kept')
  }
}

/** An id contains no control characters, so only the format's escape character needs escaping. */
const copyText = ({ lineNumber, customerId }: CustomerLine): string =>
  `${lineNumber}\t${customerId.includes('\\') ? customerId.replaceAll('\\', '\\\\') : customerId}\n`
