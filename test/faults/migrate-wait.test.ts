/** `perkline migrate --wait` when a whole machine starts: the database comes up after the command (contract/production.md, "Units"). */
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { mkdtempSync, symlinkSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { perkline } from '../support/command.ts'
import { createTestDatabase } from '../support/database.ts'
import { sharedSettings } from '../support/process.ts'

test('a database that comes up later is waited for, and one that refuses is not', async t => {
  const scratch = await createTestDatabase({ migrated: false })
  const folder = mkdtempSync(join(tmpdir(), 'perkline-late-'))
  t.after(async () => {
    await scratch.close()
    await rm(folder, { recursive: true, force: true })
  })
  const url = new URL(scratch.url)
  const sockets = url.searchParams.get('host')
  assert.ok(sockets, 'the server of the tests has a socket')
  url.searchParams.set('host', folder)
  const socket = `.s.PGSQL.${url.port || 5432}`
  const env = sharedSettings(url.href, folder)

  assert.match((await perkline(['migrate'], { env })).stderr, /The database can't be reached/)

  // At first, this server stands in for the database and closes every connection at once.
  const early = createServer(connection => connection.destroy()).listen(join(folder, socket))
  await once(early, 'listening')
  const migrating = perkline(['migrate', '--wait', '300'], { env })
  await once(early, 'connection')
  early.close()
  symlinkSync(join(sockets, socket), join(folder, socket))
  const { code, stdout, stderr } = await migrating
  assert.equal(code, 0, stderr)
  assert.match(stdout, /^Applied \d+ migrations: /)

  url.pathname = '/none'
  const refused = await perkline(['migrate', '--wait', '300'], { env: { ...env, DATABASE_URL: url.href } })
  assert.equal(refused.code, 1)
  assert.match(refused.stderr, /The database refuses/)
})
