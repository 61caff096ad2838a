/**
 * A machine is lost while it sells as fast as it can, with the shipped `archive_timeout` (contract/production.md,
 * "Backup"): no order older than 60 seconds is missing, and each of ten instants can be restored exactly.
 */
import process from 'node:process'
import { test } from 'node:test'
import { walkRestore } from '../support/restore-walk.ts'

const sellMs = Math.max(150_000, Number(process.env.CHAOS_SECONDS ?? 0) * 1_000)

test('restored to the end of the archive, and to ten instants', t =>
  walkRestore(t, { archiveSeconds: 60, sellMs, sellers: 32, pauseMs: 1, profiles: 150_000, instants: 10 }))
