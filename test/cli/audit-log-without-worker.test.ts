/** The audit log is whole for its readers, too, when no worker numbers entries (contract/audit-log.md, "The chain"). */
import assert from 'node:assert/strict'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import pg from 'pg'
import { commandsAt } from '../support/command.ts'
import { startPlatform, type TestPlatform } from '../support/platform.ts'

const folder = mkdtempSync(join(tmpdir(), 'perkline-audit-log-'))
let platform: TestPlatform
before(async () => {
  platform = await startPlatform({ LOG_LEVEL: 'error' }, { only: ['admin'] })
})
after(async () => {
  await platform.close()
  rmSync(folder, { recursive: true })
})

const { run, json } = commandsAt(() => platform)
const issue = (label: string): Promise<{ clientId: string }> =>
  json('credentials', 'issue', '--bank', 'alpha', '--role', 'ADMIN', '--label', label)
async function recorded(): Promise<number> {
  const [row] = await platform.platform.database.query<{ entries: number }>(
    `select count(*)::int as entries from outbox where kind = 'audit'`,
  )
  return row?.entries ?? 0
}
const lastObject = (file: string): string =>
  JSON.parse(JSON.parse(readFileSync(file, 'utf8').trimEnd().split('\n').at(-1) ?? '').entry).object.id

test('list, export and verify number first what is waiting', async () => {
  const listed = await issue('Listed')
  assert.equal((await json('audit-log', 'list', '--limit', '1')).data[0].object.id, listed.clientId)
  const exported = await issue('Exported')
  const file = join(folder, 'log.jsonl')
  const { entries, unnumbered } = await json('audit-log', 'export', file)
  assert.deepEqual([entries, unnumbered, lastObject(file)], [await recorded(), 0, exported.clientId])
  await issue('Verified')
  const verified = await json('audit-log', 'verify')
  assert.deepEqual([verified.ok, verified.entries, verified.unnumbered], [true, await recorded(), 0])
})

test('a database that takes no writes is read, and what has no number is told', async () => {
  const numbered = (await json('audit-log', 'verify')).entries
  await issue('First')
  await issue('Second')
  const readOnly = async (value: 'on' | 'off') => {
    const client = new pg.Client(platform.databaseUrl)
    await client.connect()
    await client.query('set default_transaction_read_only = off')
    const name = pg.escapeIdentifier(String(client.database))
    await client.query(`alter database ${name} set default_transaction_read_only = ${value}`)
    await client.query(
      'select pg_terminate_backend(pid) from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid()',
    )
    await client.end()
  }
  await readOnly('on')
  try {
    const file = join(folder, 'read-only.jsonl')
    const { code, stdout } = await run('audit-log', 'export', file)
    assert.equal(code, 0)
    assert.equal(
      stdout,
      `${numbered} entries were written to ${file}.\n` +
        '2 recorded entries of all accounts could not be numbered, so exports and checks leave them out. Is the database read-only?\n',
    )
    const verified = await json('audit-log', 'verify')
    assert.deepEqual([verified.ok, verified.entries, verified.unnumbered], [true, numbered, 2])
    const checked = await run('audit-log', 'verify')
    assert.match(checked.stdout, /^2 recorded entries of all accounts could not be numbered/m)
    assert.equal((await json('audit-log', 'list', '--limit', '1')).data[0].seq, numbered)
  } finally {
    await readOnly('off')
  }
  assert.equal((await json('audit-log', 'verify')).entries, numbered + 2)
})
