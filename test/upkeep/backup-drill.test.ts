/**
 * The shipped backup drill: it restores a copy, verifies it, removes it, and reports the time of the last success
 * (contract/production.md, "Backup").
 */
import assert from 'node:assert/strict'
import { execFile, execFileSync } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { chmodSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import process from 'node:process'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { freePort } from '../support/free-port.ts'
import { asPostgres, binaries, giveToPostgres } from '../support/patroni.ts'
import { sharedSettings, startProcess } from '../support/process.ts'
import { openShop } from '../support/world.ts'

const run = promisify(execFile)
const drill = fileURLToPath(new URL('../../deploy/postgres/backup-drill', import.meta.url))

test('a backup is restored, proved and removed; with another key, a changed byte or a missing log it fails and says why', async t => {
  if (!existsSync(join(binaries, 'pg_basebackup'))) {
    assert.ok(!process.env.REQUIRE_ALL_TESTS, `there is no PostgreSQL in ${binaries}`)
    return t.skip(`there is no PostgreSQL in ${binaries}`)
  }
  const folder = mkdtempSync(join(tmpdir(), 'perkline-drill-'))
  const [data, scratch] = [join(folder, 'main'), join(folder, 'drill')]
  for (const path of [data, scratch]) mkdirSync(path)
  chmodSync(folder, 0o755)
  if (process.getuid?.() === 0) giveToPostgres(folder, data, scratch)
  const port = await freePort()
  const asUser = (program: string, args: string[]) =>
    execFileSync(...asPostgres(join(binaries, program), args), { stdio: 'ignore', cwd: folder })
  asUser('initdb', [
    '-D',
    data,
    '-A',
    'trust',
    '-U',
    'postgres',
    '--encoding=UTF8',
    '--locale=C.UTF-8',
    '--data-checksums',
    '--no-sync',
  ])
  const options = `-p ${port} -c max_connections=140 -c listen_addresses='' -c unix_socket_directories='${folder}'`
  asUser('pg_ctl', ['-D', data, '-w', '-l', join(folder, 'log'), '-o', options, 'start'])
  try {
    const at = ['-h', folder, '-p', String(port), '-U', 'postgres']
    asUser('createuser', [...at, 'perkline'])
    asUser('createdb', [...at, '-O', 'perkline', 'perkline'])
    const url = `postgres://perkline@localhost:${port}/perkline?host=${encodeURIComponent(folder)}`
    const settings = sharedSettings(url, folder)
    const platform = await startProcess(settings)
    await openShop(platform, { profiles: 50, seed: 7_990 })
    await platform.stop()

    const restore = join(folder, 'restore')
    const result = join(scratch, 'perkline_backup.prom')
    const env = (masterKey: string) => ({
      PATH: process.env.PATH ?? '',
      DRILL_FOLDER: scratch,
      DRILL_RESULT: result,
      DRILL_RESTORE: restore,
      PG_BIN: binaries,
      MASTER_KEY: masterKey,
    })
    const drillWith = async (masterKey: string, others: Record<string, string> = {}) =>
      run(...asPostgres(drill, []), {
        cwd: folder,
        env: { ...env(masterKey), DRILL_PORT: String(await freePort()), ...others },
        timeout: 60_000,
      })
    /** Writes the restore program. It runs `damage` on the restored folder ($1) before the server starts with it. */
    const restoreAnd = (damage: string) =>
      writeFileSync(
        restore,
        `#!/bin/sh\nset -e\n${binaries}/pg_basebackup ${at.join(' ')} -c fast -X stream -D "$1"\n${damage}\n`,
        { mode: 0o755 },
      )
    const expectRefused = async (
      reason: RegExp,
      masterKey = settings.MASTER_KEY ?? '',
      others: Record<string, string> = {},
    ) => {
      rmSync(result, { force: true })
      const refused = drillWith(masterKey, others)
      await assert.rejects(
        refused,
        ({ code, stdout, stderr }) => code === 1 && reason.test(stdout + stderr),
        String(reason),
      )
      assert.ok(!existsSync(result), 'nothing is told to be proved')
      assert.ok(!existsSync(join(scratch, 'data')), 'the copy is gone')
    }
    restoreAnd('')
    const { stdout } = await drillWith(settings.MASTER_KEY ?? '')
    assert.match(stdout, /^ok {3}master-key: MASTER_KEY opens 50 profiles/m)
    const told = Number(/^perkline_backup_verified_timestamp_seconds (\d+)$/m.exec(readFileSync(result, 'utf8'))?.[1])
    assert.ok(Math.abs(Date.now() / 1_000 - told) < 60)
    assert.ok(!existsSync(join(scratch, 'data')), 'the copy is gone')

    // The copy of a Debian server lacks these files, because Debian keeps them in another folder.
    restoreAnd('rm "$1"/postgresql.conf "$1"/pg_hba.conf "$1"/pg_ident.conf')
    assert.match((await drillWith(settings.MASTER_KEY ?? '')).stdout, /^ok {3}master-key: /m)
    restoreAnd('')
    await expectRefused(/master-key/, randomBytes(32).toString('base64'))
    await expectRefused(/database "absent" does not exist/, undefined, { DATABASE_NAME: 'absent' })
    await expectRefused(/role "absent" does not exist/, undefined, { DATABASE_USER: 'absent' })

    const ask = (sql: string) =>
      execFileSync(...asPostgres(join(binaries, 'psql'), [...at, '-X', '-A', '-t', '-d', 'perkline', '-c', sql]), {
        cwd: folder,
        encoding: 'utf8',
      }).trim()
    // Damages the first row of a page. PostgreSQL stores this row at the end of the page.
    const file = ask(`select pg_relation_filepath('profiles')`)
    restoreAnd(`printf '\\377\\125' | dd of="$1/${file}" bs=1 seek=8180 conv=notrunc status=none`)
    await expectRefused(new RegExp(`invalid page in block 0 of relation ${file}`))

    restoreAnd(`rm "$1"/pg_wal/0*`)
    await expectRefused(/could not locate required checkpoint record|could not find|invalid checkpoint/)
  } finally {
    asUser('pg_ctl', ['-D', data, '-w', '-m', 'immediate', 'stop'])
    rmSync(folder, { recursive: true, force: true })
  }
})
