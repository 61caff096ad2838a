/**
 * Closes bank statements that are due, as the worker does, and kills itself meanwhile: `node closing-worker.ts DATABASE_URL NOW N`. It
 * kills itself after sending its Nth SQL statement, before the answer arrives. If it needs fewer SQL statements, it ends normally.
 */
import process from 'node:process'
import pg from 'pg'
import { createClock } from '../../src/clock.ts'
import { openDatabase } from '../../src/db/database.ts'
import { closeStatements } from '../../src/statements/closing.ts'
import { beginClosing } from '../../src/statements/closing-store.ts'

const [connectionString = '', now = '', killedAt = ''] = process.argv.slice(2)
const send = pg.Client.prototype.query as (this: pg.Client, ...given: unknown[]) => unknown
let closing: pg.Client | null = null
let sent = 0

function sendAndDie(this: pg.Client, ...given: unknown[]): unknown {
  if (given[0] === beginClosing) closing = this
  const result = send.apply(this, given)
  if (this === closing && ++sent === Number(killedAt)) process.kill(process.pid, 'SIGKILL')
  return result
}
pg.Client.prototype.query = sendAndDie as typeof pg.Client.prototype.query

const database = openDatabase({ connection: { connectionString }, poolSize: 4 })
const clock = { ...createClock(), now: () => new Date(now) }
while (await closeStatements({ database, clock }, true));
await database.close()
