/** A durable database server of its own with several real platform processes on it, stocked and ready for sales. */
import { chmod, mkdir, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { profileLines } from '../../samples/make-profiles.ts'
import { type Database, openDatabase } from '../../src/db/database.ts'
import { type EmbeddedServer, startEmbeddedDatabase } from '../../src/db/embedded.ts'
import { type Bank, bankAt } from './esim.ts'
import { testDirectory } from './platform.ts'
import { type PerklineProcess, type Settings, sharedSettings, startProcess } from './process.ts'

export type World = {
  folder: string
  settings: Settings
  database: Database
  server: EmbeddedServer
  processes: PerklineProcess[]
  /** Processes that were killed or stopped; their output is still to be looked at. */
  ended: PerklineProcess[]
  tokens: { alpha: string; beta: string }
  /** A bank at one of the processes, whichever runs in that place by now. */
  at(index: number, bank?: 'alpha' | 'beta'): Bank
  /** Ends a process one way or the other and starts another in its place. */
  replace(index: number, end: (process: PerklineProcess) => Promise<unknown>): Promise<void>
  /** Starts the database server again after its end. */
  startServer(): Promise<void>
  close(): Promise<void>
}

/** @param options.settings beside the usual ones of the processes */
export async function startWorld(options: {
  processes: number
  profiles: number
  seed: number
  settings?: Settings
}): Promise<World> {
  const folder = await mkdtemp(join(tmpdir(), 'perkline-world-'))
  await chmod(folder, 0o711)
  await mkdir(join(folder, 'platform'))
  const dataDir = join(folder, 'server')
  const server = await startEmbeddedDatabase({ dataDir })
  const { host, user, database: name } = server.connection
  const url = `postgres://${user}@localhost/${name}?host=${encodeURIComponent(host)}`
  const settings = { ...sharedSettings(url, join(folder, 'platform')), ...options.settings }
  const processes: PerklineProcess[] = []
  for (let started = 0; started < options.processes; started++) processes.push(await startProcess(settings))
  const first = processes[0] as PerklineProcess
  await first.admin('POST', '/directory', { directory: testDirectory, files: {} })
  const lines = [...profileLines({ count: options.profiles, seed: options.seed })].join('')
  await first.admin('POST', '/profiles?operator=kyivstar&tariff=eu-10gb', lines)
  const tokenOf = async (bank: string): Promise<string> => {
    const issued = await first.admin('POST', '/credentials', { bank, role: 'ADMIN', label: 'world' })
    return (await first.call('POST', '/getToken/auth', { body: issued })).body.access_token
  }
  const world: World = {
    folder,
    settings,
    database: openDatabase({ connection: server.connection, poolSize: 2 }),
    server,
    processes,
    ended: [],
    tokens: { alpha: await tokenOf('alpha'), beta: await tokenOf('beta') },
    at: (index, bank = 'alpha') => bankAt(processes[index % processes.length] as PerklineProcess, world.tokens[bank]),
    async replace(index, end) {
      const process = processes[index] as PerklineProcess
      await end(process)
      world.ended.push(process)
      processes[index] = await startProcess(settings)
    },
    async startServer() {
      world.server = await startEmbeddedDatabase({ dataDir })
    },
    async close() {
      for (const process of processes) await process.kill()
      await world.database.close()
      await world.server.stop()
      await rm(folder, { recursive: true, force: true })
    },
  }
  return world
}
