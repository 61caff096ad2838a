/**
 * A machine with the shipped `archive_timeout` is backed up while it sells 500 orders a second, and is then lost
 * (contract/production.md, "Backup"). No order older than 60 seconds is missing after the restore, and each of ten
 * instants can be restored exactly.
 */
import process from 'node:process'
import { test } from 'node:test'
import { walkRestore } from '../support/restore-walk.ts'

const sellMs = Math.max(150_000, Number(process.env.CHAOS_SECONDS ?? 0) * 1_000)
const ordersPerSecond = 500
/** The stock must last for the measured sales, and for the sales during the backup before them. */
const profiles = Math.ceil((ordersPerSecond * sellMs) / 1_000) + 50_000

test('restored to the end of the archive, and to ten instants', t =>
  walkRestore(t, { archiveSeconds: 60, sellMs, sellers: 32, ordersPerSecond, profiles, instants: 10 }))
