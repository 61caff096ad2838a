/**
 * The shipped backup drill: it restores, verifies, removes the copy, and reports when (contract/production.md,
 * "Backup").
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

test('a backup is restored beside the database, proved and removed; one that another key sealed fails and tells nothing', async t => {
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
  const options = `-p ${port} -c listen_addresses='' -c unix_socket_directories='${folder}'`
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
    writeFileSync(restore, `#!/bin/sh\nexec ${binaries}/pg_basebackup ${at.join(' ')} -c fast -X stream -D "$1"\n`, {
      mode: 0o755,
    })
    const result = join(scratch, 'perkline_backup.prom')
    const env = (masterKey: string) => ({
      PATH: process.env.PATH ?? '',
      DRILL_FOLDER: scratch,
      DRILL_RESULT: result,
      DRILL_RESTORE: restore,
      PG_BIN: binaries,
      MASTER_KEY: masterKey,
    })
    const drillWith = async (masterKey: string) =>
      run(...asPostgres(drill, []), { cwd: folder, env: { ...env(masterKey), DRILL_PORT: String(await freePort()) } })
    const { stdout } = await drillWith(settings.MASTER_KEY ?? '')
    assert.match(stdout, /^ok {3}master-key: MASTER_KEY opens 50 profiles/m)
    const told = Number(/^perkline_backup_verified_timestamp_seconds (\d+)$/m.exec(readFileSync(result, 'utf8'))?.[1])
    assert.ok(Math.abs(Date.now() / 1_000 - told) < 60)
    assert.ok(!existsSync(join(scratch, 'data')), 'the copy is gone')

    rmSync(result)
    await assert.rejects(
      drillWith(randomBytes(32).toString('base64')),
      ({ code, stderr }) => code === 1 && /master-key/.test(stderr),
    )
    assert.ok(!existsSync(result))
    assert.ok(!existsSync(join(scratch, 'data')), 'the copy is gone')
  } finally {
    asUser('pg_ctl', ['-D', data, '-w', '-m', 'immediate', 'stop'])
    rmSync(folder, { recursive: true, force: true })
  }
})
