/** Listens on the platform's addresses, and explains failures to do so. */
import { once } from 'node:events'
import { createServer } from 'node:net'
import type { FastifyInstance } from 'fastify'

export type Address = { host: string; port: number }

/** The setting that an address comes from. */
type Settings = 'PORT' | 'ADMIN_PORT'

/** Listens at an address. @throws Error that names the setting to change */
export async function listenAt(app: FastifyInstance, address: Address, setting: Settings = 'PORT'): Promise<void> {
  await app.listen(address).catch(error => {
    throw listenError(error, address, setting)
  })
}

/**
 * Checks that the address is free, before the sample data is loaded. The credentials of the sample data are made only
 * once and shown when the platform listens, so the platform must be able to listen.
 */
export async function expectFree(address: Address, setting: Settings = 'PORT'): Promise<void> {
  try {
    const server = createServer().listen(address.port, address.host)
    await once(server, 'listening')
    server.close()
    await once(server, 'close')
  } catch (error) {
    throw listenError(error, address, setting)
  }
}

function listenError(error: unknown, { host, port }: Address, setting: Settings): unknown {
  const { code } = error as NodeJS.ErrnoException
  if (code === 'EADDRINUSE')
    return new Error(`Port ${port} of ${host} is taken by another program; set ${setting} to another one`)
  if (code === 'EACCES') return new Error(`This user may not listen on port ${port}; set ${setting} to one above 1023`)
  if (code === 'EADDRNOTAVAIL' || code === 'ENOTFOUND')
    return new Error(`${host} is no address of this machine; set ${setting.replace('PORT', 'HOST')}`)
  return error
}
