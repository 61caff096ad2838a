/**
 * A PostgreSQL server that archives its write-ahead log with pgBackRest, set up from the files in `deploy/postgres`,
 * and servers restored from that archive.
 */
import { execFile, execFileSync } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { chmodSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import process from 'node:process'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { freePort } from './free-port.ts'
import { asPostgres, binaries, giveToPostgres } from './patroni.ts'

const run = promisify(execFile)
const files = fileURLToPath(new URL('../../deploy/postgres/', import.meta.url))

type ArchivedServer = {
  folder: string
  url: string
  /** Makes a full backup. */
  backUp(): Promise<void>
  /** Simulates the loss of the machine: data that is not in the archive is lost. */
  crash(): void
  /**
   * Restores a copy of the server in another folder and starts it.
   * @param target the last instant to restore; null: everything in the archive
   * @returns the address of the copy
   */
  restore(target: Date | null): Promise<string>
  close(): void
}

/** @param archiveSeconds the maximum age of the write-ahead log before it is archived */
export async function startArchivedServer(archiveSeconds: number): Promise<ArchivedServer> {
  const folder = mkdtempSync(join(tmpdir(), 'perkline-archive-'))
  chmodSync(folder, 0o755)
  const own = (name: string): string => {
    mkdirSync(join(folder, name))
    return join(folder, name)
  }
  const [data, repository, spool, lock, log] = ['main', 'repository', 'spool', 'lock', 'log'].map(own) as [
    ...[string, string, string, string, string],
  ]
  const config = join(folder, 'pgbackrest.conf')
  const options = [`lock-path=${lock}`, `log-path=${log}`, `pg1-socket-path=${folder}`, 'pg1-user=postgres']
  const ports: number[] = [await freePort()]
  writeFileSync(
    config,
    readFileSync(join(files, 'pgbackrest.conf'), 'utf8')
      .replace(/^repo1-path=.*$/m, `repo1-path=${repository}`)
      .replace(/^spool-path=.*$/m, `spool-path=${spool}\n${options.slice(0, 2).join('\n')}`)
      .replace(/^pg1-path=.*$/m, `pg1-path=${data}\n${options.slice(2).join('\n')}`)
      .replace(/^pg1-port=.*$/m, `pg1-port=${ports[0]}`)
      // The second repository in the configuration cannot be reached in a test.
      .replaceAll(/^repo2-.*\n/gm, ''),
  )
  if (process.getuid?.() === 0) giveToPostgres(folder, data, repository, spool, lock, log, config)
  const env = { PATH: process.env.PATH, PGBACKREST_REPO1_CIPHER_PASS: randomBytes(24).toString('hex') }
  const asUser = (program: string, args: string[]) =>
    void execFileSync(...asPostgres(program, args), { stdio: 'ignore', cwd: folder, env })
  const backrest = (...args: string[]) =>
    run(...asPostgres('pgbackrest', [`--config=${config}`, '--stanza=perkline', ...args]), { cwd: folder, env })
  const urlAt = (port: number | undefined) =>
    `postgres://perkline@localhost:${port}/perkline?host=${encodeURIComponent(folder)}`
  const startServer = (at: string, port: number | undefined, settings: string) =>
    asUser(join(binaries, 'pg_ctl'), [
      ...['-D', at, '-w', '-t', '120', '-l', join(log, 'server'), 'start', '-o'],
      `-p ${port} -c listen_addresses='' -c unix_socket_directories='${folder}' ${settings}`,
    ])
  const initdb = [
    '-A',
    'trust',
    '-U',
    'postgres',
    '--encoding=UTF8',
    '--locale=C.UTF-8',
    '--data-checksums',
    '--no-sync',
  ]
  asUser(join(binaries, 'initdb'), ['-D', data, ...initdb])
  const archive = `pgbackrest --config=${config} --stanza=perkline archive-push %p`
  startServer(
    data,
    ports[0],
    `-c wal_level=replica -c archive_mode=on -c archive_timeout=${archiveSeconds}s -c archive_command='${archive}'`,
  )
  const restored: string[] = []
  const server: ArchivedServer = {
    folder,
    url: urlAt(ports[0]),
    backUp: async () => void (await backrest('--type=full', 'backup')),
    crash() {
      const [pid] = readFileSync(join(data, 'postmaster.pid'), 'utf8').split('\n')
      process.kill(Number(pid), 'SIGKILL')
    },
    async restore(target) {
      const at = own(`restored-${restored.length}`)
      chmodSync(at, 0o700)
      if (process.getuid?.() === 0) giveToPostgres(at)
      const until =
        target === null ? ['--type=default'] : ['--type=time', `--target=${sqlTime(target)}`, '--target-action=promote']
      await backrest(`--pg1-path=${at}`, '--archive-mode=off', ...until, 'restore')
      const port = await freePort()
      restored.push(at)
      startServer(at, port, '')
      return urlAt(port)
    },
    close() {
      for (const at of [data, ...restored])
        try {
          asUser(join(binaries, 'pg_ctl'), ['-D', at, '-w', '-m', 'immediate', 'stop'])
        } catch {
          // `pg_ctl` fails when the test has already crashed this server.
        }
      rmSync(folder, { recursive: true, force: true, maxRetries: 5 })
    },
  }
  try {
    const at = ['-h', folder, '-p', String(ports[0]), '-U', 'postgres']
    asUser('createuser', [...at, 'perkline'])
    asUser('createdb', [...at, '-O', 'perkline', 'perkline'])
    await backrest('stanza-create')
    await backrest('check')
    return server
  } catch (error) {
    server.close()
    throw error
  }
}

const sqlTime = (instant: Date): string => instant.toISOString().replace('T', ' ').replace('Z', '+00')
