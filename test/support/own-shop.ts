/** One platform process with its own embedded database, stocked and ready for sales. */
import { chmod, mkdtemp, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { openDatabase } from '../../src/db/database.ts'
import { bankAt } from './esim.ts'
import type { Shop } from './full-disk.ts'
import { sharedSettings, startProcess } from './process.ts'
import { openShop } from './world.ts'

/** @param given.parent the folder in which the platform's DATA_DIR is made */
export async function startOwnShop(given: {
  parent: string
  profiles: number
  seed: number
}): Promise<Shop & { close(): Promise<void> }> {
  const folder = await mkdtemp(join(given.parent, 'own-'))
  await chmod(folder, 0o711)
  const { DATABASE_URL: _, ...shared } = sharedSettings('', folder)
  const settings = { ...shared, SAMPLE_DATA: '0' }
  const process = await startProcess(settings)
  const tokens = await openShop(process, given)
  const connection = { host: join(folder, 'run'), port: 5432 }
  const database = openDatabase({ connection: { ...connection, user: 'perkline', database: 'perkline' }, poolSize: 2 })
  return {
    processes: [process],
    settings,
    database,
    connection,
    at: (_, bank = 'alpha') => bankAt(process, tokens[bank]),
    async close() {
      await database.close()
      await process.stop()
      await rm(folder, { recursive: true, force: true })
    },
  }
}
