/** Runs the platform until it is told to stop (contract/operations.md, "Two commands"). */
import { setTimeout as wait } from 'node:timers/promises'
import { ConfigError, environment, readConfig, type Service, services, startedByNpm, withKeys } from '../config.ts'
import { createLogger, terminalStream } from '../log.ts'
import { settingsAdvice } from '../settings/advice.ts'
import { expectFree, listenAt } from './listening.ts'
import { giveBackMemory } from './memory.ts'
import { serveMetrics } from './metrics.ts'
import { whenParentEnds } from './parent.ts'
import { createPlatform } from './platform.ts'
import { startError } from './start-error.ts'

/** Whoever still hangs so long after the limit of requests will not end by itself. */
const closeWithinMs = 15_000
/** What was logged last is read by then, or by nobody. */
const readWithinMs = 1_000

/**
 * @param only names of services with commas; undefined: all
 * @throws ConfigError, SchemaError, SealingError, or an Error when it can't listen
 */
export async function serve(only: string | undefined): Promise<void> {
  const env = environment()
  const config = withKeys(readConfig(env))
  const onTerminal = process.stdout.isTTY === true
  const stream = onTerminal ? await terminalStream() : undefined
  const logger = createLogger(config.logLevel, stream, config.instance.name)
  for (const advice of settingsAdvice(config, env)) logger.warn(advice)
  // What nobody caught ends the process, but through the log: an error printed as it is might carry values of rows.
  process.on('uncaughtException', error => {
    logger.fatal({ err: error }, 'uncaught error')
    process.exit(1)
  })
  const platform = await createPlatform(config, logger, readServices(only)).catch(startError)
  const metricsServer = config.metrics && (await serveMetrics(platform.metrics, config.metrics))
  const { noticeMs, limitMs } = config.shutdown
  const endWithinMs = noticeMs + limitMs + closeWithinMs
  const signalled = untilStopped({ withParent: startedByNpm(env), endWithinMs }, reason => {
    logger.info({ reason }, 'stopping')
    platform.drain()
  })
  try {
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
    process.stdout.write(welcome(config, samples || null, onTerminal))
  } catch (error) {
    await platform.close()
    throw error
  }
  // Only now: samples that are half-way there would be loaded again by the next start.
  await signalled
  await wait(noticeMs)
  metricsServer?.close()
  await platform.close()
  logger.info('stopped')
  // Lines that nobody reads would keep the process alive.
  setTimeout(() => process.exit(), readWithinMs).unref()
}

function readServices(only: string | undefined): Service[] | null {
  if (only === undefined) return null
  const names = only.split(',').map(name => name.trim())
  const unknown = names.filter(name => !(services as readonly string[]).includes(name))
  if (unknown.length > 0)
    throw new ConfigError([`--only must name some of ${services.join(', ')}; not ${unknown.join(', ')}`])
  return names as Service[]
}

/** npm passes the signal of a terminal on to a process that has had it already. */
const sameSignalMs = 1_000

/**
 * Resolves once a signal asks to stop, or the end of the parent does where that counts; a later second signal ends the process at
 * once.
 */
function untilStopped(
  { withParent, endWithinMs }: { withParent: boolean; endWithinMs: number },
  begin: (reason: string) => void,
): Promise<void> {
  return new Promise(resolve => {
    let stoppingSince: number | null = null
    const onSignal = (reason: NodeJS.Signals | 'the end of the parent process') => {
      if (stoppingSince !== null) {
        if (performance.now() - stoppingSince > sameSignalMs) process.exit(1)
        return
      }
      stoppingSince = performance.now()
      const late = setTimeout(() => process.exit(1), endWithinMs)
      late.unref()
      begin(reason)
      resolve()
    }
    process.on('SIGTERM', onSignal)
    process.on('SIGINT', onSignal)
    if (withParent) whenParentEnds(() => onSignal('the end of the parent process'))
  })
}
