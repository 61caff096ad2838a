/** What the platform's operator does with the directory (operations.md, "The directory file"). */
import type { Clock } from '../clock.ts'
import { type Database, type Queryable, queryable } from '../db/database.ts'
import { longTransaction } from '../db/long-transaction.ts'
import { notify } from '../db/notifications.ts'
import { DomainError } from '../errors.ts'
import { checkClaims } from './claims.ts'
import type { Directory } from './directory-file.ts'
import { readDirectoryAside } from './directory-reading.ts'
import type { Written } from './entry-writer.ts'
import * as store from './store.ts'
import { renewBankLists, writeTerminalLists } from './terminal-lists-store.ts'
import { replaceTerminals } from './terminals-store.ts'

export type ApplyDeps = { database: Database; clock: Clock }

/** Entries of the file: a merchant with its terminals is one, a tariff is one of its own. */
export type Applied = { created: number; updated: number; unchanged: number }

/** More faults than anybody reads are counted but not listed. */
const mostFaults = 10_000

/**
 * Brings the directory to what the file states, all or nothing; what the file leaves out stays. Two at once follow one another.
 *
 * @param given.files the texts of the `terminalsFile` entries by their path as the YAML writes it
 * @param given.dryRun true: everything is checked and counted, and nothing stays
 * @throws DomainError 'invalid' with every fault, by path and line
 */
export async function applyDirectory(
  deps: ApplyDeps,
  given: { directory: string; files: ReadonlyMap<string, string>; dryRun: boolean },
): Promise<Applied> {
  const read = await readDirectoryAside(given.directory, given.files)
  const apply = async (transaction: Queryable): Promise<Applied> => {
    await store.lockDirectory(transaction)
    const faults = [...('faults' in read ? read.faults : []), ...(await checkClaims(transaction, read))]
    if (faults.length > 0 || 'faults' in read) throw new DomainError('invalid', bounded(faults))
    const { applied, isShownInLists } = await write(transaction, read.directory, deps.clock.now())
    if (applied.created + applied.updated > 0) {
      await store.raiseVersion(transaction)
      await notify(transaction, 'catalogue')
      await notify(transaction, 'access')
    }
    if (isShownInLists) await renewBankLists(transaction)
    return applied
  }
  return longTransaction(deps.database, client => apply(queryable(client)), { keep: !given.dryRun })
}

/** @returns the counts, and whether anything changed that the banks' lists of campaigns show */
async function write(
  transaction: Queryable,
  directory: Directory,
  now: Date,
): Promise<{ applied: Applied; isShownInLists: boolean }> {
  const { countries, paymentSystems, banks, merchants, mobileOperators = [] } = directory
  const others = [
    await store.writePaymentSystems(transaction, paymentSystems, now),
    await store.writeMobileOperators(transaction, mobileOperators, now),
    await store.writeTariffs(transaction, mobileOperators, now),
    await writeBanks(transaction, banks, now),
  ]
  const shown = [
    await store.writeCountries(transaction, countries, now),
    await writeMerchants(transaction, merchants, now),
  ]
  const counts = [...others, ...shown].map(countOf)
  const tariffs = mobileOperators.reduce((sum, operator) => sum + operator.tariffs.length, 0)
  const lists = [countries, paymentSystems, banks, merchants, mobileOperators]
  const entries = lists.reduce((sum, list) => sum + list.length, tariffs)
  const created = counts.reduce((sum, count) => sum + count.created, 0)
  const updated = counts.reduce((sum, count) => sum + count.updated, 0)
  return {
    applied: { created, updated, unchanged: entries - created - updated },
    isShownInLists: shown.some(written => written.length > 0),
  }
}

function countOf(written: Written[]): { created: number; updated: number } {
  const created = written.filter(entry => entry.created).length
  return { created, updated: written.length - created }
}

async function writeBanks(transaction: Queryable, banks: Directory['banks'], now: Date): Promise<Written[]> {
  const written = await store.writeBanks(transaction, banks, now)
  return withChanged(written, await store.writeBankOperators(transaction, banks))
}

async function writeMerchants(
  transaction: Queryable,
  merchants: Directory['merchants'],
  now: Date,
): Promise<Written[]> {
  const written = await store.writeMerchants(transaction, merchants, now)
  const changed = [
    ...(await store.writeExcludedBanks(transaction, merchants)),
    ...(await writeTerminals(transaction, merchants, now)),
  ]
  const all = withChanged(written, changed)
  await store.touchMerchants(
    transaction,
    all.slice(written.length).map(({ code }) => code),
    now,
  )
  return all
}

/** @returns the codes of the merchants whose terminals have changed */
async function writeTerminals(transaction: Queryable, merchants: Directory['merchants'], now: Date): Promise<string[]> {
  const given = merchants.flatMap(({ code, terminals }) => (terminals ? [{ code, terminals }] : []))
  const idOf = await store.idsByCode(transaction, 'merchants', 'merchant_id', given)
  const withIds = given.map(({ code, terminals }) => ({ code, terminals, merchantId: String(idOf(code)) }))
  const changed = await replaceTerminals(transaction, withIds, now)
  await writeTerminalLists(transaction, [...changed])
  return withIds.filter(({ merchantId }) => changed.has(merchantId)).map(({ code }) => code)
}

/** Adds the entries that are changed by what belongs to them alone. */
function withChanged(written: Written[], codes: readonly string[]): Written[] {
  const known = new Set(written.map(({ code }) => code))
  const others = [...new Set(codes)].filter(code => !known.has(code))
  return [...written, ...others.map(code => ({ code, created: false }))]
}

function bounded(faults: string[]): string[] {
  if (faults.length <= mostFaults) return faults
  return [...faults.slice(0, mostFaults), `... and ${faults.length - mostFaults} more faults`]
}
