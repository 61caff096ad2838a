/** Warnings at a start about settings that are valid but probably a mistake. */
import { unknownParameters } from './encryption.ts'
import { settingsHelp } from './help.ts'
import { isLoopback, isOpenToOthers } from './loopback.ts'
import { openFiles } from './secret-files.ts'

type Environment = Record<string, string | undefined>
type Config = {
  mode: 'sandbox' | 'live'
  host: string
  publicUrl: string
  staffUrl: string
  admin: object | null
  databaseUrl?: string | null
}

/**
 * Returns one sentence for each setting that is probably a mistake, to be logged as a warning.
 * @param running the services of the process; null: all
 */
export function settingsAdvice(config: Config, env: Environment, running: readonly string[] | null = null): string[] {
  return [
    ...unknownSettings(Object.keys(env)),
    ...openFileAdvice(env),
    ...unknownParameters(config.databaseUrl ?? null),
    ...(config.mode === 'live' ? liveAdvice(config, env, running) : sandboxAdvice(config)),
  ]
}

function openFileAdvice(env: Environment): string[] {
  return openFiles(name => env[name]?.trim() || null).map(
    name => `${name} names a file that every user of this machine can read: take that permission away (chmod o-r)`,
  )
}

/** The services that make links for the platform's own staff. */
const linkMakers = ['portal', 'admin', 'worker']

function liveAdvice(config: Config, env: Environment, running: readonly string[] | null): string[] {
  const runs = (service: string) => running === null || running.includes(service)
  const advice: string[] = []
  if (!env.PUBLIC_URL?.trim())
    advice.push(`PUBLIC_URL is not set: partners are given addresses that begin with ${config.publicUrl}`)
  if (config.admin === null && runs('admin'))
    advice.push('ADMIN_PORT is not set: /admin can be reached by everybody who can reach this address')
  if (!env.ADMIN_URL?.trim() && linkMakers.some(runs)) {
    const links = `links that the platform’s own people get begin with ${config.staffUrl}`
    advice.push(
      config.admin === null
        ? `ADMIN_URL is not set: if another process has ADMIN_PORT, set ADMIN_URL here, too, because ${links}`
        : `ADMIN_URL is not set: ${links}`,
    )
  }
  if (!isLoopback(config.host) && !config.publicUrl.startsWith('https:'))
    advice.push(
      'PUBLIC_URL is not https, and the platform listens beyond this machine: tokens and passwords may travel unencrypted',
    )
  if (runs('worker')) advice.push(...keepingAdvice(env))
  return advice
}

const keepSettings = ['KEEP_REPORT_LINES_DAYS', 'KEEP_SEGMENTS_DAYS', 'KEEP_MSISDN_DAYS']

/** Returns a sentence with the settings of `retention/removal.ts` that are not set. The worker removes the data. */
function keepingAdvice(env: Environment): string[] {
  const unset = keepSettings.filter(name => !env[name]?.trim())
  if (unset.length === 0) return []
  const [are, they] = unset.length === 1 ? ['is', 'it is'] : ['are', 'they are']
  return [`${unset.join(', ')} ${are} not set: what ${they} about is kept for ever`]
}

/**
 * A sandbox may send webhooks to its own machine. That is safe only if everybody who can reach the sandbox may also use
 * the other services on that machine.
 */
function sandboxAdvice(config: Config): string[] {
  if (!isOpenToOthers(config)) return []
  return [
    'others can reach this sandbox: with webhooks they can call services on its own machine (127.0.0.0/8, ::1) and read the beginning of ' +
      'the answers, so run it where no other service listens, such as in a container of its own',
  ]
}

const known = [...settingsHelp.map(({ name }) => name), 'PERKLINE_URL']
/** Kubernetes sets these variables in every container when there is a Kubernetes service named `perkline`. */
const ofKubernetes = /^PERKLINE_(?:SERVICE_|PORT(?:_|$))/
/**
 * Variables that are not settings although their names are close to one. For example, many shells set `MAIL` to the
 * path of the user's mailbox.
 */
const common = ['MAIL']

/**
 * Returns a sentence for each variable that is not a setting, but begins with `PERKLINE_` or has a name close to a
 * setting's name.
 */
export function unknownSettings(names: readonly string[]): string[] {
  return names.flatMap(name => {
    if (known.includes(name) || common.includes(name) || ofKubernetes.test(name)) return []
    const meant = known.find(setting => isClose(name.toUpperCase(), setting))
    if (meant) return [`${name} is not a setting: did you mean ${meant}?`]
    return name.startsWith('PERKLINE_') ? [`${name} is not a setting: see \`perkline help settings\``] : []
  })
}

function isClose(name: string, setting: string): boolean {
  const joined = (text: string) => text.replaceAll('_', '')
  if (joined(name) === joined(setting) || name === `PERKLINE_${setting}`) return true
  if (name.length < 5) return false
  return setting.startsWith(`${name}_`) || editDistance(name, setting) <= (name.length < 8 ? 1 : 2)
}

/**
 * The number of steps from one text to the other. Each step adds, removes or replaces a letter, or swaps two
 * neighbours (optimal string alignment).
 */
function editDistance(a: string, b: string): number {
  let [before, last] = [[] as number[], Array.from({ length: b.length + 1 }, (_, column) => column)]
  const at = (row: number[], column: number) => row[column] ?? 0
  for (let row = 1; row <= a.length; row++) {
    const next = [row]
    for (let column = 1; column <= b.length; column++) {
      const replaced = at(last, column - 1) + (a[row - 1] === b[column - 1] ? 0 : 1)
      next[column] = Math.min(at(last, column) + 1, at(next, column - 1) + 1, replaced)
      if (row > 1 && column > 1 && a[row - 1] === b[column - 2] && a[row - 2] === b[column - 1])
        next[column] = Math.min(at(next, column), at(before, column - 2) + 1)
    }
    ;[before, last] = [last, next]
  }
  return at(last, b.length)
}
