/** Makes sure that one process at a time uses the embedded database's folder, and ends a server that outlived its owner. */
import { execFile } from 'node:child_process'
import { readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import process from 'node:process'
import { DatabaseSync } from 'node:sqlite'
import { setTimeout as sleep } from 'node:timers/promises'
import { promisify } from 'node:util'

/**
 * Takes the data folder for this process by locking a file in it. The lock is SQLite's, because Node.js has none. A
 * lock is safer than a file with a process id: the kernel releases a lock when its process ends, two processes can
 * never both take it, and it works between containers that share the folder.
 */
export async function takeFolder(dataDir: string): Promise<() => Promise<void>> {
  const [lockFile, ownerFile] = [join(dataDir, 'postgres.lock'), join(dataDir, 'postgres.owner')]
  // Do not open and close this file once it is locked: that would release the lock.
  await writeFile(lockFile, '', { flag: 'wx', mode: 0o600 }).catch(error => {
    if (error.code !== 'EEXIST') throw error
  })
  const lock = new DatabaseSync(lockFile, { timeout: 0 })
  let taken = isTaken(lock)
  let owner = await livingOwner(ownerFile)
  // Try for half a second: a process that was just killed may still hold the lock, and a process that has just taken it
  // may not have written its id yet.
  for (let attempt = 0; (!taken || owner) && attempt < 20; attempt++) {
    await sleep(25)
    taken ||= isTaken(lock)
    owner = await livingOwner(ownerFile)
  }
  if (!taken || owner) {
    lock.close()
    const other = owner ? `another Perkline process (pid ${owner})` : 'another Perkline process'
    throw new Error(
      `The data folder ${dataDir} is in use by ${other}: stop it first, or set DATA_DIR to another folder.`,
    )
  }
  const release = async () => {
    if (!lock.isOpen) return
    await rm(ownerFile, { force: true })
    lock.close()
  }
  try {
    await writeFile(ownerFile, `${process.pid} ${await startedAt(process.pid)}\n`, { mode: 0o600 })
  } catch (error) {
    // The file could not be written; the disk is probably full. Release the lock: otherwise the next try in this
    // process would find the folder taken.
    await release()
    throw error
  }
  return release
}

/** Tries to take the lock. @returns whether this process holds it now */
function isTaken(lock: DatabaseSync): boolean {
  const busy = 5
  try {
    lock.exec('pragma journal_mode = memory; begin exclusive')
    return true
  } catch (error) {
    if ((error as { errcode?: number }).errcode === busy) return false
    lock.close()
    throw error
  }
}

/** The process that the owner file names, if it is alive. */
async function livingOwner(ownerFile: string): Promise<number | undefined> {
  const [pid = '', started = ''] = (await readFile(ownerFile, 'utf8').catch(() => '')).trim().split(' ')
  return isAlive(Number(pid)) && (await startedAt(Number(pid))) === started ? Number(pid) : undefined
}

function isAlive(pid: number): boolean {
  return pid > 0 && signal(pid, 0)
}

/** Sends a signal; false if there is no such process. */
export function signal(pid: number, name: NodeJS.Signals | 0): boolean {
  try {
    return process.kill(pid, name)
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM'
  }
}

/**
 * When a process started, in ticks since boot. A later process with the same id has another value. Empty for a zombie, and on
 * systems without /proc.
 */
async function startedAt(pid: number): Promise<string> {
  const stat = await readFile(`/proc/${pid}/stat`, 'latin1').catch(() => '')
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
  return /[ZX]/.test(fields[0] ?? '') ? '' : (fields[19] ?? '')
}

/**
 * Ends a server whose owner was killed. Normally the watcher (`runtime.ts`) ends the server at once, but the watcher may have been
 * killed too. We hold the folder's lock, so no other process owns that server.
 */
export async function endOrphan(cluster: string): Promise<void> {
  const steps = [
    { waitMs: 1_000 },
    { signal: 'SIGINT', waitMs: 10_000 },
    { signal: 'SIGQUIT', waitMs: 10_000 },
  ] as const
  for (const step of steps) {
    const pid = await runningServer(cluster)
    if (!pid) return
    if ('signal' in step) signal(pid, step.signal)
    for (let waitedMs = 0; waitedMs < step.waitMs && (await runningServer(cluster)); waitedMs += 20) await sleep(20)
  }
  const pid = await runningServer(cluster)
  if (pid) throw new Error(`A PostgreSQL server (pid ${pid}) is left over in ${cluster} and does not end: kill it.`)
}

/** The server that `postmaster.pid` names, if it is alive and really uses this cluster. */
export async function runningServer(cluster: string): Promise<number | undefined> {
  const pidFile = join(cluster, 'postmaster.pid')
  const pid = Number.parseInt(await readFile(pidFile, 'utf8').catch(() => ''), 10)
  if (!isAlive(pid)) return undefined
  const command = await commandOf(pid)
  if (command.includes(`postgres -D ${cluster} `)) return pid
  // If the process with this id is not a PostgreSQL server, as often after a container restarts, remove
  // `postmaster.pid`. With this file, PostgreSQL would refuse to start.
  if (isAlive(pid) && !command.includes('postgres')) await rm(pidFile, { force: true })
  return undefined
}

async function commandOf(pid: number): Promise<string> {
  const ps = () =>
    promisify(execFile)('ps', ['-o', 'command=', '-p', String(pid)]).then(
      ({ stdout }) => stdout,
      () => '',
    )
  const command = await readFile(`/proc/${pid}/cmdline`, 'utf8').catch(ps)
  return command.replaceAll(/[\0\n]/g, ' ')
}
