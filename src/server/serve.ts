/** Runs the platform until a signal asks it to stop (contract/operations.md, "Two commands"). */
import { setTimeout as wait } from 'node:timers/promises'
import {
  type Config,
  ConfigError,
  environment,
  readConfig,
  type Service,
  services,
  startedByNpm,
  withKeys,
} from '../config.ts'
import { createLogger, type Logger, terminalStream } from '../log.ts'
import { settingsAdvice } from '../settings/advice.ts'
import { endNow } from './end-now.ts'
import { expectFree, listenAt } from './listening.ts'
import { giveBackMemory } from './memory.ts'
import { serveMetrics } from './metrics.ts'
import { whenParentEnds } from './parent.ts'
import { createPlatform, type Platform } from './platform.ts'
import { startError } from './start-error.ts'

/**
 * The time for stopping, in addition to `noticeMs` (the wait before it) and `limitMs` (the time limit of requests).
 * After the sum of the three, the process exits, even if something is still open.
 */
const closeWithinMs = 15_000
/** How long the process waits at its end for a reader of the last log lines. */
const readWithinMs = 1_000

/**
 * Runs the platform until it is stopped.
 *
 * @param only names of services, separated by commas; undefined: all
 * @throws ConfigError for wrong settings; SchemaError when this version cannot use the database; SealingError when the
 *   master keys do not belong to the database; Error when the database is not available, or the platform cannot listen
 */
export async function serve(only: string | undefined): Promise<void> {
  const env = environment()
  const config = withKeys(readConfig(env))
  const running = readServices(only)
  const onTerminal = process.stdout.isTTY === true
  const stream = onTerminal ? await terminalStream() : undefined
  const logger = createLogger(config.logLevel, stream, config.instance.name)
  for (const advice of settingsAdvice(config, env, running)) logger.warn(advice)
  // An uncaught error ends the process. It is logged here, because Node.js would print it unchanged, including values
  // of database rows.
  process.on('uncaughtException', error => {
    logger.fatal({ err: error }, 'uncaught error')
    endNow(1)
  })
  const platform = await createPlatform(config, logger, running).catch(startError)
  const { noticeMs, limitMs } = config.shutdown
  const endWithinMs = noticeMs + limitMs + closeWithinMs
  const signalled = untilStopped({ withParent: startedByNpm(env), endWithinMs }, reason => {
    logger.info({ reason }, 'stopping')
    platform.drain()
  })
  let metricsServer: Awaited<ReturnType<typeof serveMetrics>> | null = null
  try {
    metricsServer = config.metrics && (await serveMetrics(platform.metrics, config.metrics))
    await openToRequests(platform, { config, logger, onTerminal })
  } catch (error) {
    metricsServer?.close()
    await platform.close()
    throw error
  }
  // React to the signal only here. If a signal stopped the process while it loads the samples, the next start would
  // load them again.
  await signalled
  await wait(noticeMs)
  metricsServer?.close()
  await platform.close()
  logger.info('stopped')
  // End the process even if nobody reads the last log lines.
  setTimeout(() => endNow(0), readWithinMs).unref()
}

/**
 * Loads sample data at the first start of a sandbox, starts the jobs, and listens.
 *
 * @throws Error when a port is taken
 */
async function openToRequests(
  platform: Platform,
  { config, logger, onTerminal }: { config: Config; logger: Logger; onTerminal: boolean },
): Promise<void> {
  if (config.sampleData) {
    await expectFree(config)
    if (config.admin) await expectFree(config.admin, 'ADMIN_PORT')
  }
  const samples = config.sampleData && (await (await import('../sandbox/samples.ts')).loadSamples(platform, logger))
  giveBackMemory()
  platform.startJobs()
  if (platform.adminApp && config.admin) await listenAt(platform.adminApp, config.admin, 'ADMIN_PORT')
  await listenAt(platform.app, { host: config.host, port: config.port })
  logger.info({ address: config.publicUrl, mode: config.mode, services: platform.deps.services }, 'ready')
  const { welcome } = await import('./welcome.ts')
  process.stdout.write(welcome(config, platform.deps.services, samples || null, onTerminal))
}

function readServices(only: string | undefined): Service[] | null {
  if (only === undefined) return null
  const names = only.split(',').map(name => name.trim())
  const unknown = names.filter(name => !(services as readonly string[]).includes(name))
  if (unknown.length > 0)
    throw new ConfigError([`--only must name some of ${services.join(', ')}; not ${unknown.join(', ')}`])
  return names as Service[]
}

/**
 * A second signal within this time counts as the same one. npm passes a terminal's signal on to a process that has
 * already received it.
 */
const sameSignalMs = 1_000

/**
 * Resolves when a signal asks the process to stop, or, with `withParent`, when the parent process ends. A second
 * signal ends the process at once, unless it comes within `sameSignalMs`.
 */
function untilStopped(
  { withParent, endWithinMs }: { withParent: boolean; endWithinMs: number },
  begin: (reason: string) => void,
): Promise<void> {
  return new Promise(resolve => {
    let stoppingSince: number | null = null
    const onSignal = (reason: NodeJS.Signals | 'the end of the parent process') => {
      if (stoppingSince !== null) {
        if (performance.now() - stoppingSince > sameSignalMs) endNow(1)
        return
      }
      stoppingSince = performance.now()
      const late = setTimeout(() => endNow(1), endWithinMs)
      late.unref()
      begin(reason)
      resolve()
    }
    process.on('SIGTERM', onSignal)
    process.on('SIGINT', onSignal)
    if (withParent) whenParentEnds(() => onSignal('the end of the parent process'))
  })
}
