/** Applies a directory file for the platform's operator (contract/operations.md, "The directory file"). */

import type { Clock } from '../clock.ts'
import { type Database, type Queryable, queryable } from '../db/database.ts'
import { longTransaction } from '../db/long-transaction.ts'
import { notify } from '../db/notifications.ts'
import { type BrokenRule, broken } from '../error-rules.ts'
import { DomainError } from '../errors.ts'
import { type Origin, operatorOrigin } from '../outbox/origin.ts'
import { recordApplied } from './applied-entries.ts'
import { type Change, type Changes, createChanges } from './changes.ts'
import { findCatalogue, recordCatalogueChanged, recordTerminalsChanged } from './events.ts'
import { checkClaims } from './file/claims.ts'
import type { Directory, DirectoryFile } from './file/directory-file.ts'
import { type FoundErrors, maxErrors, noErrors } from './file/found-errors.ts'
import { readDirectoryAside } from './file/reading.ts'
import { findMailedBanks } from './mailed-banks.ts'
import * as store from './store.ts'
import * as tables from './tables.ts'
import { renewBankLists, writeTerminalLists } from './terminal-lists-store.ts'
import { replaceTerminals } from './terminals-store.ts'

/**
 * `origin` says who applies the file; default: the platform itself, as its operator. `mailsQrCodes`: whether this process
 * can deliver QR codes by e-mail (`canMailQrCodes`); default: yes.
 */
export type ApplyDeps = { database: Database; clock: Clock; origin?: Origin; mailsQrCodes?: boolean }

/** Counts of the file's entries. A merchant with its terminals counts as one; each tariff counts separately. */
export type Applied = {
  created: number
  updated: number
  unchanged: number
  changes: Change[]
  /** Present when there are more changes than are listed. */
  truncated?: true
}

/** How a file is applied. With `create`, every code of the file must be new. */
export const applyModes = ['apply', 'create'] as const
export type ApplyMode = (typeof applyModes)[number]

/**
 * Makes the directory match the file. If there is any error, nothing is changed. Entries and fields that the file
 * leaves out are not changed. Simultaneous calls run one after the other.
 *
 * @param params.files the content of each terminals file, by its path as the YAML text writes it
 * @param params.dryRun true: everything is checked and counted, and nothing is kept
 * @throws DomainError 'invalid' with the first errors, by path and line, and their number; 'conflict' in the mode
 *   `create` with the codes that exist; 'too-large' when reading the file needs more memory than there is
 */
export async function applyDirectory(
  deps: ApplyDeps,
  params: { directory: string; files: ReadonlyMap<string, string>; dryRun: boolean; mode?: ApplyMode },
): Promise<Applied> {
  const read = await readDirectoryAside(params.directory, params.files)
  const apply = async (transaction: Queryable): Promise<Applied> => {
    await store.lockDirectory(transaction)
    const claims = await checkClaims(transaction, read)
    const found = 'errors' in read ? read : noErrors()
    const errorCount = found.errorCount + claims.errors.length
    if (errorCount > 0 || 'errors' in read)
      throw new DomainError(
        'invalid',
        bounded([...found.errors, ...claims.errors], errorCount),
        problemsOf(found, errorCount),
      )
    if (params.mode === 'create' && claims.existing.length > 0)
      throw new DomainError('conflict', bounded(claims.existing))
    const changes = createChanges()
    const bankCodes = read.directory.banks.map(({ code }) => code)
    const before = await findCatalogue(transaction, bankCodes)
    await write(transaction, read.directory, { changes, now: deps.clock.now() })
    if (deps.mailsQrCodes === false) await refuseMailedBanks(transaction, read)
    const { created, updated } = changes.count()
    if (created + updated > 0) {
      await store.raiseVersion(transaction)
      await recordApplied(transaction, deps.origin ?? operatorOrigin(), changes)
      await notify(transaction, 'catalogue')
      await notify(transaction, 'access')
    }
    await recordCatalogueChanged(transaction, changes, before)
    if (isShownInLists(changes)) await renewBankLists(transaction)
    return { created, updated, unchanged: read.entries.length - created - updated, ...changes.shown() }
  }
  return longTransaction(deps.database, client => apply(queryable(client)), { keep: !params.dryRun })
}

/**
 * Refuses banks of the file that now deliver by e-mail. Without a mail server, their customers would get no QR code, and
 * the next start would fail.
 *
 * @throws DomainError 'invalid' with the place of each bank's mode of delivery, or of the bank if the file does not give it
 */
async function refuseMailedBanks(transaction: Queryable, { entries, deliveries }: DirectoryFile): Promise<void> {
  const mailed = new Set(await findMailedBanks(transaction))
  const errors = entries.flatMap(({ kind, code, path, line }) => {
    if (kind !== 'bank' || !mailed.has(code)) return []
    const field = `${path}.esim.deliveryMode`
    const given = deliveries.find(delivery => delivery.path === field)
    return [{ ...broken(field, 'mail-server', { mode: 'qr_email' }), line: given?.line ?? line }]
  })
  if (errors.length > 0) throw new DomainError('invalid', bounded(errors))
}

async function write(transaction: Queryable, directory: Directory, writing: store.Writing): Promise<void> {
  const { countries, paymentSystems, banks, merchants, mobileOperators = [] } = directory
  await store.writeByCode(transaction, tables.paymentSystems, paymentSystems, writing)
  await store.writeByCode(transaction, tables.mobileOperators, mobileOperators, writing)
  await store.writeTariffs(transaction, mobileOperators, writing)
  await store.writeByCode(transaction, tables.banks, banks, writing)
  await store.writeByCode(transaction, tables.countries, countries, writing)
  await store.writeByCode(transaction, tables.merchants, merchants, writing)
  await writeTerminals(transaction, merchants, writing)
}

/** Whether a change is visible in the banks' lists of campaigns. */
function isShownInLists(changes: Changes): boolean {
  return (['country', 'merchant'] as const).some(kind => {
    const { created, updated } = changes.count(kind)
    return created + updated > 0
  })
}

async function writeTerminals(
  transaction: Queryable,
  merchants: Directory['merchants'],
  { changes, now }: store.Writing,
): Promise<void> {
  const params = merchants.flatMap(({ code, terminals }) => (terminals ? [{ code, terminals }] : []))
  const idOf = await store.idsByCode(transaction, 'merchants', 'merchant_id', params)
  const withIds = params.map(({ code, terminals }) => ({ code, terminals, merchantId: String(idOf(code)) }))
  const changed = await replaceTerminals(transaction, withIds, now)
  await writeTerminalLists(transaction, [...changed.keys()])
  const codes = withIds.flatMap(({ merchantId, code }) => {
    const terminals = changed.get(merchantId)
    if (!terminals) return []
    changes.add({ kind: 'merchant', code, change: 'updated', fields: { terminals } })
    return [code]
  })
  await store.touchMerchants(transaction, codes, now)
  await recordTerminalsChanged(transaction, changed)
}

/**
 * The errors of terminals files in a form for programs. If the directory file has other errors, too, the result is
 * empty, because it would be incomplete.
 */
function problemsOf(
  { problems, problemCount }: FoundErrors,
  errorCount: number,
): Partial<Pick<FoundErrors, 'problems' | 'problemCount'>> {
  return problemCount > 0 && problemCount === errorCount ? { problems, problemCount } : {}
}

/** @param count the number of all errors; `errors` has at least the first `maxErrors` of them */
function bounded(errors: (string | BrokenRule)[], count = errors.length): (string | BrokenRule)[] {
  if (count <= maxErrors) return errors
  return [...errors.slice(0, maxErrors), `... and ${count - maxErrors} more errors`]
}
