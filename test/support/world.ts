/** A durable database server with several real platform processes on it, stocked and ready for sales. */
import { chmod, mkdir, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { profileLines } from '../../samples/make-profiles.ts'
import { type Database, openDatabase } from '../../src/db/database.ts'
import { type EmbeddedServer, startEmbeddedDatabase } from '../../src/db/embedded/server.ts'
import { type Bank, bankAt } from './esim.ts'
import { testDirectory } from './platform.ts'
import { type PerklineProcess, type Settings, sharedSettings, startProcess } from './process.ts'

export type World = {
  folder: string
  settings: Settings
  database: Database
  server: EmbeddedServer
  processes: PerklineProcess[]
  /** Processes that were killed or stopped; their output is still checked later. */
  ended: PerklineProcess[]
  tokens: { alpha: string; beta: string }
  /** Returns functions with which a bank calls the process that is at this index of `processes` now. */
  at(index: number, bank?: 'alpha' | 'beta'): Bank
  /** Ends a process in one of several ways and starts another in its place. */
  replace(index: number, end: (process: PerklineProcess) => Promise<unknown>): Promise<void>
  /** Starts the database server again after it has ended. */
  startServer(): Promise<void>
  close(): Promise<void>
}

/**
 * Starts a database server and the platform's processes, applies the directory of the tests and imports the stock.
 *
 * @param options.profiles how many profiles the stock gets
 * @param options.seed makes the profiles differ from those of another world
 * @param options.settings further settings of the processes
 * @param options.serverSettings further settings of the database server
 * @param options.first runs on the first process before the directory of the tests is applied. Use it to apply a
 *   directory that sets ids, because an existing entry cannot get another id
 * @param options.parent the folder in which the world's folder is made; default: the folder of temporary files
 */
export async function startWorld(options: {
  processes: number
  profiles: number
  seed: number
  settings?: Settings
  serverSettings?: Settings
  first?: (platform: PerklineProcess) => Promise<unknown>
  parent?: string
}): Promise<World> {
  const folder = await mkdtemp(join(options.parent ?? tmpdir(), 'perkline-world-'))
  await chmod(folder, 0o711)
  await mkdir(join(folder, 'platform'))
  const dataDir = join(folder, 'server')
  const startServer = () => startEmbeddedDatabase({ dataDir, settings: options.serverSettings ?? {} })
  const server = await startServer()
  const { host, user, database: name } = server.connection
  const url = `postgres://${user}@localhost/${name}?host=${encodeURIComponent(host)}`
  const settings = { ...sharedSettings(url, join(folder, 'platform')), ...options.settings }
  const processes: PerklineProcess[] = []
  const world: World = {
    folder,
    settings,
    database: openDatabase({ connection: server.connection, poolSize: 2 }),
    server,
    processes,
    ended: [],
    tokens: { alpha: '', beta: '' },
    at: (index, bank = 'alpha') => bankAt(processes[index % processes.length] as PerklineProcess, world.tokens[bank]),
    async replace(index, end) {
      const process = processes[index] as PerklineProcess
      await end(process)
      world.ended.push(process)
      processes[index] = await startProcess(settings)
    },
    async startServer() {
      world.server = await startServer()
    },
    async close() {
      for (const process of processes) await process.kill()
      await world.database.close()
      await world.server.stop()
      await rm(folder, { recursive: true, force: true })
    },
  }
  try {
    for (let started = 0; started < options.processes; started++) processes.push(await startProcess(settings))
    await options.first?.(processes[0] as PerklineProcess)
    world.tokens = await openShop(processes[0] as PerklineProcess, options)
  } catch (error) {
    await world.close()
    throw error
  }
  return world
}

/**
 * Applies the directory of the tests and imports the stock.
 * @returns the banks' tokens
 */
export async function openShop(
  platform: PerklineProcess,
  stock: { profiles: number; seed: number },
): Promise<World['tokens']> {
  await platform.admin('POST', '/directory', { directory: testDirectory, files: {} })
  const lines = [...profileLines({ count: stock.profiles, seed: stock.seed })].join('')
  await platform.admin('POST', '/profiles?operator=kyivstar&tariff=eu-10gb', lines)
  const tokenOf = async (bank: string): Promise<string> => {
    const issued = await platform.admin('POST', '/credentials', { bank, role: 'ADMIN', label: 'world' })
    return (await platform.call('POST', '/getToken/auth', { body: issued })).body.access_token
  }
  return { alpha: await tokenOf('alpha'), beta: await tokenOf('beta') }
}

/**
 * Restarts the database server whenever it ends by itself, like a service manager. @returns a function that stops
 * this
 */
export function keepServer(world: World): { leave(): Promise<void> } {
  let left = false
  const watch = async (): Promise<void> => {
    const ended = await Promise.race([world.server.ended, leaving.promise])
    if (ended === null) return
    for (let started = false; !started && !left; ) {
      await sleep(500)
      started = await world.startServer().then(
        () => true,
        () => false,
      )
    }
    if (!left) await watch()
  }
  const leaving = Promise.withResolvers<null>()
  const watching = watch()
  return {
    async leave() {
      left = true
      leaving.resolve(null)
      await watching
    },
  }
}
