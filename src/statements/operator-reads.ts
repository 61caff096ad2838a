/** The operator's reads of all banks' statements. */
import type { Clock } from '../clock.ts'
import type { Queryable } from '../db/database.ts'
import { DomainError } from '../errors.ts'
import { standingOf } from './closing.ts'
import { findBankStates } from './closing-store.ts'
import { type ClosedStatement, type DayRange, statementColumns } from './read-store.ts'
import { rangeOf, readStatementFiles, type StatementFile } from './reads.ts'
import { dueSpan, nextSpan } from './spans.ts'

type BankReference = { id: string; code: string; name: string }
export type StatementOfBank = ClosedStatement & { bank: BankReference }
/** A bank and its oldest overdue day, which ends at `to`. */
export type MissingStatement = { bank: BankReference; day: string; to: Date }

const withBank = `${statementColumns}, json_build_object('id', b.bank_id, 'code', b.code, 'name', b.name) as bank`

/** @throws DomainError 'not-found' when no bank has this code */
export async function readBankId(database: Queryable, code: string): Promise<string> {
  const [bank] = await database.query<{ id: string }>('select bank_id as id from banks where code = $1', [code])
  if (!bank) throw new DomainError('not-found', 'There is no such bank')
  return bank.id
}

/**
 * The statements of a range of days, sorted by day (newest first) and by the bank's code, and the banks with overdue
 * days.
 *
 * @param search.bankCode undefined: all banks
 * @param page.after the day and the bank's id of the last statement on the previous page; null: the first page
 * @returns `range`: the days that were read
 */
export async function listAllStatements(
  { database, clock }: { database: Queryable; clock: Clock },
  { bankCode, ...days }: Partial<DayRange> & { bankCode?: string | undefined },
  page: { after: { day: string; bankId: string } | null; limit: number },
): Promise<{ range: DayRange; statements: StatementOfBank[]; missing: MissingStatement[] }> {
  const range = rangeOf(days, clock.now(), 'UTC')
  const bankId = bankCode === undefined ? null : await readBankId(database, bankCode)
  const statements = await database.query<StatementOfBank>(
    `select ${withBank} from statements s join banks b using (bank_id)
     where day between $1 and $2 and ($3::uuid is null or s.bank_id = $3)
       and ($4::date is null or day < $4 or (day = $4 and b.code > (select code from banks where bank_id = $5)))
     order by day desc, b.code limit $6`,
    [range.from, range.to, bankId, page.after?.day ?? null, page.after?.bankId ?? null, page.limit],
  )
  return { range, statements, missing: await findMissing(database, bankId, clock.now()) }
}

async function findMissing(database: Queryable, bankId: string | null, now: Date): Promise<MissingStatement[]> {
  const banks = await database.query<BankReference>('select bank_id as id, code, name from banks')
  return (await findBankStates(database)).flatMap(state => {
    const standing = standingOf(state)
    const bank = banks.find(({ id }) => id === state.bankId)
    if (!standing || !bank || (bankId !== null && bankId !== state.bankId) || !dueSpan(standing, now)) return []
    const { day, to } = nextSpan(standing)
    return [{ bank, day, to }]
  })
}

/** @throws DomainError 'not-found' when no bank has such a statement */
export async function findAnyStatement(database: Queryable, statementId: string): Promise<StatementOfBank> {
  const [found] = await database.query<StatementOfBank>(
    `select ${withBank} from statements s join banks b using (bank_id) where statement_id = $1`,
    [statementId],
  )
  if (!found) throw new DomainError('not-found', 'There is no such statement')
  return found
}

/** The files of a bank's statements, concatenated. @throws DomainError 'not-found' for an unknown bank */
export async function readBankFiles(
  deps: { database: Queryable; clock: Clock },
  bankCode: string,
  params: Partial<DayRange>,
): Promise<StatementFile> {
  return readStatementFiles(deps, await readBankId(deps.database, bankCode), params)
}
