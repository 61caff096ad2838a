/** The checks of `perkline doctor` on the database and its server. */
import { findUnprovenKeys } from '../access/token-keys.ts'
import { findSigner } from '../audit-log/keys.ts'
import { realMs } from '../clock.ts'
import { type Database, openDatabase, type Queryable } from '../db/database.ts'
import { pendingMigrations, SchemaError } from '../db/migrate.ts'
import { boundMode } from '../db/mode.ts'
import { createPools } from '../db/pools.ts'
import { countConnections, hasOwnSessions, mayMakeTemporaryTables } from '../db/server-check.ts'
import { countServing } from '../db/versions.ts'
import { DomainError } from '../errors.ts'
import { readIndexKey } from '../esim/stock/sealing.ts'
import { canMailQrCodes, findMailedBanks } from '../partners/mailed-banks.ts'
import { findUnopenedKeys } from '../sealed-keys.ts'
import { isLoopback } from '../settings/loopback.ts'
import { type Finding, failed, passed, warned } from './doctor-finding.ts'
import type { DoctorSettings } from './doctor-settings.ts'

const maxApartMs = 1_000

/** Checks the database. The embedded database is not checked here, because the platform checks it at its start. */
export async function databaseFindings(settings: DoctorSettings): Promise<Finding[]> {
  if (settings.databaseUrl === null) return [passed('database', 'the embedded database, for a single machine')]
  const connection = { connectionString: settings.databaseUrl }
  const poolSize = settings.databasePool
  const { database } = createPools(openDatabase({ connection, poolSize }), poolSize)
  try {
    await database.query('select 1')
    return [
      ...(await sessionFindings(database, settings)),
      ...(await serverFindings(database)),
      await clockFinding(database),
      await connectionsFinding(database),
      ...(await contentFindings(database, settings)),
    ]
  } catch (error) {
    return [
      failed(
        'database',
        `the database can't be used (${causeOf(error)})`,
        'Check DATABASE_URL, that PostgreSQL runs, and what its user may do',
      ),
    ]
  } finally {
    await database.close()
  }
}

async function sessionFindings(database: Database, { databaseUrl, mode }: DoctorSettings): Promise<Finding[]> {
  const url = new URL(databaseUrl ?? '')
  const host = url.searchParams.get('host') ?? decodeURIComponent(url.hostname)
  const [row] = await database.query<{ tls: boolean; isSuperuser: boolean; isStandby: boolean; isReadOnly: boolean }>(
    `select coalesce((select ssl from pg_stat_ssl where pid = pg_backend_pid()), false) as tls,
            current_setting('is_superuser') = 'on' as "isSuperuser",
            pg_is_in_recovery() as "isStandby", current_setting('transaction_read_only') = 'on' as "isReadOnly"`,
  )
  const isHere = host === '' || host.startsWith('/') || isLoopback(host)
  const findings = [passed('database', 'the database answers')]
  if (row?.tls || isHere)
    findings.push(passed('database-tls', row?.tls ? 'the connection is encrypted' : 'the database is on this machine'))
  else {
    const detail = 'the connection to the database on another machine is not encrypted'
    const advice =
      'Add ?sslmode=verify-full to DATABASE_URL; on a private network of one machine this is what ALLOW_PLAINTEXT=1 allows'
    findings.push(warned('database-tls', detail, advice))
  }
  if (!(await hasOwnSessions(database)))
    findings.push(
      failed(
        'database-pooler',
        'a pooler gives each transaction another session',
        'Use pool_mode=session, or the address of the server',
      ),
    )
  if (row?.isStandby)
    findings.push(
      failed(
        'database-writes',
        'the server is a standby, so it takes no writes, and requests that write get 503',
        'Give DATABASE_URL the address of the primary, or promote this server if there is none',
      ),
    )
  else if (row?.isReadOnly)
    findings.push(
      failed(
        'database-writes',
        'transactions are read only, so requests that write get 503',
        'Find out who set default_transaction_read_only (server, database or role) and why, and reset it',
      ),
    )
  if (!(await mayMakeTemporaryTables(database)))
    findings.push(
      failed(
        'database-temporary',
        'the user of DATABASE_URL may not make temporary tables, so uploads, imports and the audit fail',
        'Grant it: grant temporary on database ... to ...',
      ),
    )
  if (row?.isSuperuser && mode === 'live')
    findings.push(
      warned(
        'database-user',
        'the user of DATABASE_URL is a superuser',
        'Give the platform a role of its own that owns its database only',
      ),
    )
  return findings
}

type Demand = { name: string; good: readonly string[]; why: string; advice: string; isWarning?: boolean }

/** The values of `archive_mode` with which the server archives its log. */
const archiving = ['on', 'always']

/** The settings that the database server should have. `why` says what happens with other values. */
const demands: readonly Demand[] = [
  { name: 'fsync', good: ['on'], why: 'a power cut destroys the database', advice: 'Set fsync = on' },
  {
    name: 'full_page_writes',
    good: ['on'],
    why: 'a power cut may leave half-written pages',
    advice: 'Set full_page_writes = on',
  },
  {
    name: 'synchronous_commit',
    good: ['on', 'remote_apply'],
    why: 'acknowledged sales may be lost when a machine fails',
    advice: 'Set synchronous_commit = on',
  },
  { name: 'autovacuum', good: ['on'], why: 'tables grow without end, and plans go bad', advice: 'Set autovacuum = on' },
  {
    name: 'archive_mode',
    good: archiving,
    why: 'there is no continuous archive to restore from (docs/backup.md)',
    advice: 'Set archive_mode = on, and archive_command as docs/backup.md says',
    isWarning: true,
  },
]

/**
 * Commands that copy nothing. If they succeed, the server believes that its log is archived; if they fail, or with an
 * empty command, it keeps its log until the disk is full.
 */
const archivesNothing =
  /^\s*(?:\(?\s*["']?(?::|exit(?:\s+\d+)?|(?:(?:\/usr)?\/bin\/)?(?:true|false))["']?\s*\)?(?:[ \t]+[^;&|\n]*)?[;\s]*|#.*)?$/

/** Checks the server's settings against `demands` and looks at the archive, and reports the server's version. */
export async function serverFindings(database: Pick<Queryable, 'query'>): Promise<Finding[]> {
  const rows = await database.query<{ name: string; value: string }>(
    'select name, setting as value from pg_settings where name = any($1)',
    [[...demands.map(({ name }) => name), 'archive_command', 'archive_library', 'server_version']],
  )
  const settingOf = new Map(rows.map(({ name, value }) => [name, value]))
  const findings = demands.map(({ name, good, why, advice, isWarning }) => {
    const value = settingOf.get(name) ?? 'unknown'
    if (good.includes(value)) return passed(`postgresql-${name}`, `${name} = ${value}`)
    return (isWarning ? warned : failed)(`postgresql-${name}`, `${name} = ${value}: ${why}`, advice)
  })
  return [
    passed('postgresql-version', `PostgreSQL ${settingOf.get('server_version')}`),
    ...findings,
    ...archiveFindings(settingOf),
  ]
}

/** Checks what archives the log. The server uses `archive_command` only if there is no `archive_library`. */
function archiveFindings(settingOf: ReadonlyMap<string, string>): Finding[] {
  if (!archiving.includes(settingOf.get('archive_mode') ?? '')) return []
  const library = settingOf.get('archive_library') ?? ''
  if (library !== '') return [passed('postgresql-archive_library', `archive_library = ${library}`)]
  const name = 'postgresql-archive_command'
  if (!archivesNothing.test(settingOf.get('archive_command') ?? '')) return [passed(name, 'archive_command is set')]
  // The command is not shown, because it could contain a password.
  const detail = 'archive_command is empty or copies nothing: nothing is archived, so there is nothing to restore from'
  return [warned(name, detail, 'Set archive_command as docs/backup.md says')]
}

async function clockFinding(database: Database): Promise<Finding> {
  const askedAtMs = Date.now()
  const [row] = await database.query<{ ms: number }>(
    'select (extract(epoch from clock_timestamp()) * 1000)::float8 as ms',
  )
  const halfWayMs = (Date.now() + askedAtMs) / 2
  const offsetMs = Math.round(halfWayMs - (row?.ms ?? halfWayMs))
  const detail = `the clock of this machine is ${Math.abs(offsetMs)} ms ${offsetMs < 0 ? 'behind' : 'ahead of'} the database's`
  if (Math.abs(offsetMs) <= maxApartMs) return passed('clock', detail)
  return failed('clock', detail, 'Let both machines follow the same time servers (chrony, systemd-timesyncd)')
}

/**
 * Checks that the server accepts as many connections as all running processes may open. If none is running, it assumes
 * one process.
 */
async function connectionsFinding(database: Database): Promise<Finding> {
  const processes = Math.max(1, await countServing(database))
  const { needed, allowed } = await countConnections(database, processes)
  const detail = `${processes} processes may open ${needed} connections, and the server takes ${allowed}`
  if (needed <= allowed) return passed('postgresql-connections', detail)
  return failed('postgresql-connections', detail, 'Set max_connections higher, or DATABASE_POOL lower')
}

async function contentFindings(database: Database, settings: DoctorSettings): Promise<Finding[]> {
  const { mode, masterKeys } = settings
  try {
    const pending = await pendingMigrations(database)
    if (pending.length > 0)
      return [
        warned(
          'schema',
          `${pending.length} migrations are missing`,
          'Run perkline migrate, or start a process with MIGRATE_ON_START=1',
        ),
      ]
  } catch (error) {
    if (!(error instanceof SchemaError)) throw error
    return [failed('schema', error.message, 'Use the program and the database that belong together')]
  }
  const bound = await boundMode(database)
  const key = await keyFinding(database, masterKeys, bound !== null)
  return [
    passed('schema', 'the schema is that of this program'),
    bound === null || bound === mode
      ? passed('mode', `the database is used in ${mode} mode`)
      : failed(
          'mode',
          `the database belongs to ${bound} mode, and PERKLINE_MODE is ${mode}`,
          `Set PERKLINE_MODE=${bound}, or use another database`,
        ),
    key,
    ...(await tokenKeyFindings(database, masterKeys, !key.ok)),
    ...(await deliveryFindings(database, settings)),
  ]
}

/** Opens what a start opens, and the key of the audit log, with which the worker signs. */
async function keyFinding(database: Database, masterKeys: readonly Buffer[], isUsed: boolean): Promise<Finding> {
  const unopened = new Set(await findUnopenedKeys(database, masterKeys))
  const tryTo = (name: string, open: () => Promise<unknown>) =>
    open().catch(error => {
      if (error instanceof DomainError) throw error
      unopened.add(name)
    })
  if (isUsed) {
    await tryTo('iccid-index', () => readIndexKey(database, masterKeys))
    await tryTo('audit-log', () => findSigner(database, masterKeys))
  }
  if (unopened.size > 0)
    return failed(
      'master-key',
      `MASTER_KEY does not open what the database has sealed (${[...unopened].join(', ')})`,
      'Give the key of this database, compare perkline keys fingerprint with the envelope; if MASTER_KEY held several keys before, give all of them',
    )
  return passed(
    'master-key',
    isUsed ? 'MASTER_KEY opens what the database has sealed' : 'the database has not been used yet',
  )
}

/**
 * Reports the signing keys of tokens that the master keys do not confirm as genuine. The list is empty if all are
 * genuine.
 *
 * @param lacksKey whether a master key of this database is missing; it may be the one that confirms them
 */
async function tokenKeyFindings(
  database: Database,
  masterKeys: readonly Buffer[],
  lacksKey: boolean,
): Promise<Finding[]> {
  const { unproven } = await findUnprovenKeys(database, masterKeys, realMs())
  if (unproven.length === 0) return []
  return [
    failed(
      'token-keys',
      `MASTER_KEY does not prove these keys of tokens, so their tokens are refused: ${unproven.join(', ')}`,
      lacksKey
        ? 'Add the master key that is missing (see master-key) first, and look again: it may have made them, so delete none of them'
        : 'Add the former master key to MASTER_KEY, after a comma, and run perkline keys rotate. If none of your master keys proves them, ' +
            'find out who wrote to the table token_keys, and delete these rows',
    ),
  ]
}

/** Checks that there is a mail server if banks deliver by e-mail. Otherwise a start in live mode fails. */
async function deliveryFindings(database: Database, settings: DoctorSettings): Promise<Finding[]> {
  const banks = await findMailedBanks(database)
  if (banks.length === 0 || settings.mode === 'sandbox') return []
  const codes = banks.join(', ')
  return !canMailQrCodes(settings)
    ? [
        failed(
          'qr-email',
          `these banks deliver by e-mail, and there is no mail server: ${codes}`,
          'Set SMTP_URL and MAIL_FROM',
        ),
      ]
    : [passed('qr-email', `these banks deliver by e-mail: ${codes}`)]
}

function causeOf(error: unknown): string {
  const cause = error instanceof DomainError ? error.cause : error
  const { message, code } = (cause ?? {}) as { message?: string; code?: string }
  return message || code || 'no answer'
}
