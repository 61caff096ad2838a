/**
 * Encrypts the connections to a running Patroni cluster with the lines of docs/high-availability.md, "TLS to PostgreSQL". Then the
 * primary's machine dies: failover, rewinding and replication work over TLS, too.
 */
import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import process from 'node:process'
import { test } from 'node:test'
import pg from 'pg'
import { asPostgres, binaries, eventually, type Member, startPatroni } from '../support/patroni.ts'
import { sharedSettings, startProcess } from '../support/process.ts'
import { requireProgram } from '../support/require-program.ts'
import { openShop } from '../support/world.ts'

const page = readFileSync(new URL('../../docs/high-availability.md', import.meta.url), 'utf8')
const [, section = ''] = /^### TLS to PostgreSQL\n([\s\S]*?)^## /m.exec(page) ?? []
const [make = '', encrypt = '', refusePlain = ''] = [...section.matchAll(/^```text\n([\s\S]*?)^```/gm)].map(
  ([, lines = '']) => lines,
)
const withinMs = 90_000

/** Asks a member's server as its superuser, through its socket. */
const ask = ({ data, port }: Member, sql: string): string => {
  const args = ['-h', dirname(data), '-p', String(port), '-U', 'postgres', '-d', 'perkline', '-Atc', sql]
  return execFileSync(...asPostgres(join(binaries, 'psql'), args), { encoding: 'utf8' }).trim()
}
const standbysByTls = 'select count(*), bool_and(ssl) from pg_stat_replication join pg_stat_ssl using (pid)'
const platformByTls = `select bool_and(ssl) from pg_stat_activity join pg_stat_ssl using (pid)
  where usename = 'perkline' and application_name like 'perkline%'`

async function connect(connectionString: string): Promise<void> {
  const client = new pg.Client({ connectionString, connectionTimeoutMillis: 2_000 })
  client.on('error', () => {})
  try {
    await client.connect()
  } finally {
    await client.end().catch(() => {})
  }
}

test('a running cluster is encrypted without an interruption, and then survives the death of its primary', async t => {
  for (const program of ['patroni', 'etcd', 'haproxy', 'openssl']) if (!requireProgram(t, program)) return
  if (process.getuid?.() !== 0) return t.skip('only root may become postgres')
  const folder = mkdtempSync(join(tmpdir(), 'perkline-encrypted-'))
  const cluster = await startPatroni()
  const run = async (lines: string) => {
    for (const member of cluster.members) {
      const own = lines
        .replaceAll('/etc/patroni/config.yml', '/etc/patroni/patroni.yml')
        .replaceAll('/etc/patroni', dirname(member.data))
        .replace('systemctl reload patroni\n', '')
      execFileSync('bash', ['-ec', own], { cwd: folder })
      await cluster.ask(member, 'POST', '/reload', {})
    }
  }
  try {
    execFileSync('bash', ['-ec', make], { cwd: folder, stdio: 'ignore' })
    const plain = cluster.databaseUrl
    const encrypted = `${plain}?sslmode=verify-full&sslrootcert=${join(folder, 'postgresql.crt')}`
    await assert.rejects(connect(encrypted), /does not support SSL/)
    await eventually('the cluster is whole', () => cluster.isWhole(), withinMs)
    await run(encrypt)
    const offersTls = (member: Member) => ask(member, 'show ssl') === 'on'
    await eventually('all servers offer TLS', () => cluster.members.every(offersTls), withinMs)
    // Until all processes of the platform have their new setting, both kinds of connections work.
    await connect(plain)
    await connect(encrypted)
    await assert.rejects(connect(`${plain}?sslmode=verify-full`), /self-signed certificate/)

    await run(refusePlain)
    const refusesPlain = () =>
      connect(plain).then(
        () => false,
        error => /no pg_hba\.conf entry .* no encryption/.test(error.message),
      )
    await eventually('connections without TLS are refused', refusesPlain, withinMs)
    await eventually('it is still whole', () => cluster.isWhole(), withinMs)
    const primary = await cluster.primary()
    await eventually('standbys follow by TLS', () => ask(primary, standbysByTls) === '2|t', withinMs)

    const settings = sharedSettings(encrypted, folder)
    const platform = await startProcess({ ...settings, LOG_LEVEL: 'fatal', DATABASE_POOL: '6' })
    try {
      await openShop(platform, { profiles: 1, seed: 8_300 })
      assert.equal(ask(primary, platformByTls), 't')
      await cluster.kill(primary)
      const writes = async () => {
        const body = { bank: 'alpha', role: 'VIEWER', label: 'after' }
        return (await platform.call('POST', '/admin/credentials', { token: settings.OPERATOR_KEY ?? '', body })).status
      }
      await eventually('it writes again', async () => (await writes()) === 201, withinMs)
      cluster.revive(primary)
      await eventually('the cluster is whole again', () => cluster.isWhole(), 2 * withinMs)
      const successor = await cluster.primary()
      assert.notEqual(successor, primary)
      assert.equal(ask(successor, standbysByTls), '2|t')
      assert.equal(ask(successor, platformByTls), 't')
      assert.equal(await platform.stop(), 0)
    } finally {
      await platform.kill()
    }
  } finally {
    await cluster.close()
    rmSync(folder, { recursive: true, force: true })
  }
})
