/** The support bundle contains useful information, but no rows and no secrets (contract/production.md, "Commands"). */
import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { gunzipSync } from 'node:zlib'
import { tarOf } from '../../src/cli/tar.ts'
import { assertRefused } from '../support/campaigns.ts'
import { perkline } from '../support/command.ts'
import { startPlatform } from '../support/platform.ts'
import { openSmallDisk } from '../support/small-disk.ts'

/** Returns the files of a tar archive by their names. */
function filesOf(archive: Buffer): Record<string, string> {
  const files: Record<string, string> = {}
  for (let at = 0; archive[at] !== 0; ) {
    const name = archive.toString('latin1', at, at + 100).replace(/\0.*$/s, '')
    const bytes = Number.parseInt(archive.toString('latin1', at + 124, at + 135), 8)
    files[name] = archive.toString('utf8', at + 512, at + 512 + bytes)
    at += 512 + Math.ceil(bytes / 512) * 512
  }
  return files
}

test('versions, names of settings, schema, sizes, counts, metrics and the last audit, and nothing that was planted', async () => {
  const secret = randomBytes(16).toString('hex')
  const platform = await startPlatform({
    OPERATOR_KEY: `${secret}-operator-key-of-some-length`,
    SMTP_URL: `smtp://user:${secret}-smtp@127.0.0.1:1`,
    MAIL_FROM: 'shop@bank.example',
  })
  const folder = await mkdtemp(join(tmpdir(), 'perkline-bundle-'))
  try {
    await platform.addStock('kyivstar', 'eu-10gb', 3)
    const token = await platform.bankToken()
    const body = { operatorCode: 'kyivstar', tariffCode: 'eu-10gb', externalId: `${secret}-order` }
    assert.equal((await platform.call('POST', '/esim/v1/orders', { token, body })).status, 201)
    const env = { PERKLINE_URL: platform.url, OPERATOR_KEY: platform.config.operatorKey }
    await perkline(['customers', 'import', await planted(folder, secret), '--bank', 'alpha'], { env })
    assert.equal((await perkline(['audit'], { env })).code, 0)

    const path = join(folder, 'support.tar.gz')
    const told = await perkline(['support-bundle', path, '--json'], { env })
    assert.equal(told.code, 0, told.stderr)
    const archive = await readFile(path)
    assert.deepEqual(JSON.parse(told.stdout), {
      file: path,
      bytes: archive.length,
      files: ['support.json', 'overview.json', 'stock.json', 'audit.json', 'metrics.txt'],
    })
    assert.equal((await stat(path)).mode & 0o777, 0o600)
    const files = filesOf(gunzipSync(archive))
    const support = JSON.parse(files['support.json'] ?? '')
    assert.deepEqual([support.mode, support.instance.length > 0], ['sandbox', true])
    for (const name of ['SMTP_URL', 'OPERATOR_KEY', 'MASTER_KEY', 'DATABASE_URL'])
      assert.ok(support.settingsGiven.includes(name))
    assert.ok(support.database.migrations.length >= 29)
    assert.ok(support.database.tables.some(({ table }: { table: string }) => table === 'orders'))
    assert.equal(JSON.parse(files['overview.json'] ?? '').orders.reserved, 1)
    assert.equal(JSON.parse(files['stock.json'] ?? '')[0].operatorCode, 'kyivstar')
    assert.equal(JSON.parse(files['audit.json'] ?? '').last.ok, true)
    assert.match(files['metrics.txt'] ?? '', /^perkline_job_last_success_seconds/m)
    assert.ok(!gunzipSync(archive).includes(secret), 'no planted value')
    assert.ok(!gunzipSync(archive).includes(settingValue(platform.databaseUrl)), 'no value of a setting')

    const again = await perkline(['support-bundle', path], { env })
    assert.deepEqual([again.code, again.stderr], [1, `${path} is there already.\n`])
  } finally {
    await platform.close()
    await rm(folder, { recursive: true, force: true })
  }
})

const settingValue = (databaseUrl: string): string => new URL(databaseUrl).pathname.slice(1)

async function planted(folder: string, secret: string): Promise<string> {
  const path = join(folder, 'customers.csv')
  await writeFile(path, `customerId\n${secret}-customer\n`)
  return path
}

test('a full disk leaves no part of it, so the command can be repeated', async t => {
  const disk = openSmallDisk(t, 1)
  if (disk === null) return
  const platform = await startPlatform()
  try {
    const env = { PERKLINE_URL: platform.url, OPERATOR_KEY: platform.config.operatorKey }
    const path = join(disk.folder, 'support.tar.gz')
    await disk.fill()
    const refused = await perkline(['support-bundle', path], { env })
    assert.deepEqual([refused.code, refused.stderr], [1, `${path} can’t be written: the disk is full.\n`])
    const nowhere = await perkline(['support-bundle', '/dev/null/support.tar.gz'], { env })
    assert.equal(nowhere.stderr, '/dev/null/support.tar.gz can’t be written: a part of its path is no folder.\n')
    await disk.makeRoom()
    assert.equal((await perkline(['support-bundle', path], { env })).code, 0)
    assert.ok(filesOf(gunzipSync(await readFile(path)))['metrics.txt'])
  } finally {
    await platform.close()
    await disk.close()
  }
})

test('a platform viewer does not get it', async () => {
  const platform = await startPlatform()
  try {
    const env = { PERKLINE_URL: platform.url, OPERATOR_KEY: platform.config.operatorKey }
    const password = 'correct-horse-battery-staple'
    const added = await perkline(['users', 'add', '--platform', '--login', 'looker', '--role', 'viewer'], {
      env,
      input: password,
    })
    assert.equal(added.code, 0, added.stderr)
    const body = { typeAccount: 'platform', login: 'looker', password }
    const { access_token: token } = (await platform.call('POST', '/auth/login', { body })).body
    assert.equal((await platform.call('GET', '/admin/support', { token })).status, 403)
    assert.equal((await platform.call('GET', '/admin/support/counts', { token })).status, 403)
    const key = platform.config.operatorKey
    assertRefused(await platform.call('GET', '/admin/support/counts?until=soon', { token: key }), 400, [
      'until must be an ISO 8601 date, or a date and time with a time zone, from 1970 to 9999',
    ])
  } finally {
    await platform.close()
  }
})

test('an archive with names and contents of several lengths is read back as it was', () => {
  const files = [0, 1, 511, 512, 513].map(length => ({ name: `f${length}.txt`, content: Buffer.alloc(length, 'x') }))
  const read = filesOf(tarOf(files, new Date(0)))
  for (const { name, content } of files) assert.equal(read[name], content.toString())
})
