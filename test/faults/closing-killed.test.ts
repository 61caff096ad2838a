/** A worker that is killed at any statement of a closing leaves a whole statement or nothing (contract/statements.md, "Days and closing"). */
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { after, before, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { makeAllLines } from '../../src/statements/lines-store.ts'
import { verifyStatements } from '../../src/statements/verify.ts'
import { openBank, range, stopClock } from '../support/esim.ts'
import { startPlatform, type TestPlatform } from '../support/platform.ts'

const program = fileURLToPath(new URL('../support/closing-worker.ts', import.meta.url))
const sales = 5
const midnight = Date.parse('2027-03-01T00:00:00Z')

let platform: TestPlatform
before(async () => {
  platform = await startPlatform({ RATE_LIMIT: '0' })
  await platform.addStock('kyivstar', 'eu-10gb', sales)
})
after(() => platform.close())

/**
 * Closes the day in a process that kills itself at the SQL statement with this number.
 * @returns the signal that ended the process; null if it finished
 */
async function closeUntil(killedAt: number): Promise<string | null> {
  const now = new Date(midnight + 60_000).toISOString()
  const child = spawn(process.execPath, [program, platform.databaseUrl, now, String(killedAt)], { stdio: 'inherit' })
  const [code, signal] = (await once(child, 'exit')) as [number | null, string | null]
  assert.ok(code === 0 || signal === 'SIGKILL', `it ended with ${code ?? signal}`)
  return signal
}

/** Returns what is stored, once the database has noticed that the killed process is gone. */
async function read() {
  const { database } = platform.platform
  for (;;) {
    const [row] = await database.query<{ left: number; books: unknown }>(
      `select (select count(*)::int from pg_locks join pg_database d on d.oid = database
           where locktype = 'advisory' and classid = 7365031 and datname = current_database()) as left,
         json_build_object('statements', (select json_agg(s) from statements s), 'closed',
           (select count(*) from statement_lines where statement_id is not null), 'files', (select count(*) from statement_files),
           'told', (select count(*) from outbox where data::text like '%statement.closed%')) as books`,
    )
    if (row?.left === 0)
      return row.books as { statements: unknown[] | null; closed: number; files: number; told: number }
  }
}

test('killed at each of its statements, a closing is whole or has not happened', async () => {
  const { database } = platform.platform
  const bank = await openBank(platform)
  {
    using _ = stopClock(platform, new Date(midnight - 1_000))
    for (const n of range(sales)) {
      const { body } = await bank.reserve(`killed-${n}`)
      assert.equal((await bank.confirm(body.orderId)).status, 200)
    }
  }
  const nothing = await read()
  assert.deepEqual([nothing.statements, nothing.closed, nothing.files, nothing.told], [null, 0, 0, 0])
  let killedAt = 1
  for (; (await closeUntil(killedAt)) === 'SIGKILL'; killedAt++) {
    const books = await read()
    // The last statement is the commit. It may succeed although the process is killed before the answer.
    if (books.statements === null) assert.deepEqual(books, nothing, `statement ${killedAt}`)
  }
  assert.ok(killedAt > 10, `only ${killedAt - 1} statements`)
  const { statements, closed, files } = await read()
  assert.deepEqual([statements?.length, closed, files], [1, sales, 3])
  await makeAllLines(database, 5_000)
  const { ok, checks } = await verifyStatements(database, null)
  assert.ok(ok, JSON.stringify(checks.filter(check => !check.ok)))
})
