/**
 * Follows the steps of docs/backup.md in a short form. `npm run chaos -- archive` does the same with the shipped
 * `archive_timeout`.
 */
import { test } from 'node:test'
import { walkRestore } from '../support/restore-walk.ts'

test('restored to the end of the archive, and to an instant: the right orders are there, and the platform goes on', t =>
  walkRestore(t, { archiveSeconds: 5, sellMs: 14_000, sellers: 4, ordersPerSecond: 120, profiles: 6_000, instants: 1 }))
