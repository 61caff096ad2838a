/** The previous release, taken from the project's own history, for tests of upgrades and of going back. */
import { execFileSync } from 'node:child_process'
import { symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { until } from './esim.ts'
import { freePort } from './free-port.ts'
import { type Settings, sharedSettings, startProcess } from './process.ts'

const checkout = fileURLToPath(new URL('../..', import.meta.url))
/** The commit of version 0.2.0. */
const previous = '23c8b70'

/**
 * The releases run in live mode. Only in this mode, a process that stops first answers that it is not ready, so that
 * the balancer sends it no more requests.
 */
const liveSettings = {
  ...{ PERKLINE_MODE: 'live', SMTP_URL: 'smtp://127.0.0.1:1', MAIL_FROM: 'shop@bank.example' },
  ...{ DATABASE_POOL: '4', LOG_LEVEL: 'warn' },
}

/**
 * Unpacks the program of the previous release, and adds the packages of this release.
 * @param folder where it is unpacked
 * @returns null if the history does not contain that release (a shallow checkout)
 */
export function unpackPrevious(folder: string): string | null {
  const root = join(folder, 'previous')
  try {
    execFileSync('git', ['cat-file', '-e', `${previous}^{commit}`], { cwd: checkout, stdio: 'ignore' })
  } catch {
    return null
  }
  execFileSync('sh', ['-c', `mkdir "$1" && git archive ${previous} | tar -x -C "$1"`, 'sh', root], { cwd: checkout })
  symlinkSync(join(checkout, 'node_modules'), join(root, 'node_modules'))
  return root
}

/**
 * Prepares both releases on one database, each with a port of its own.
 * @param root the folder into which the previous release was unpacked
 * @param folder a temporary one
 */
export async function openReleases(root: string, databaseUrl: string, folder: string) {
  const ports: [number, number] = [await freePort(), await freePort()]
  const settings: Settings = { ...sharedSettings(databaseUrl, folder), ...liveSettings }
  const at = (port: number): Settings => ({ ...settings, PORT: String(port) })
  return {
    ports,
    settings,
    startOld: () => startProcess(at(ports[0]), undefined, ['serve'], root),
    startNew: () => startProcess(at(ports[1])),
  }
}

/** Waits until further requests of the load were answered. */
export const continuing =
  (load: { answered(): number }) =>
  async (what: string): Promise<void> => {
    const before = load.answered()
    await until(what, () => load.answered() > before + 40)
  }
