import { randomInt } from 'node:crypto'
import { once } from 'node:events'
import { createServer } from 'node:net'

/**
 * A port below the range from which systems choose the ports of outgoing connections. Otherwise an outgoing connection
 * may take the port of a process that is being restarted.
 */
const anyPort = () => randomInt(20_000, 32_000)

/** Returns a port that nobody listens on. @param wanted the port to return if it is free */
export async function freePort(wanted = anyPort()): Promise<number> {
  const server = createServer().listen(wanted, '127.0.0.1')
  try {
    await once(server, 'listening')
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EADDRINUSE') throw error
    return freePort()
  }
  const { port } = server.address() as { port: number }
  server.close()
  await once(server, 'close')
  return port
}

const returned: number[] = []
let areReused = false

/**
 * After this call, a new platform of this process gets the port of a closed platform, if there is one. A browser keeps
 * compiled code by address, so it need not compile the portal again.
 */
export function reusePorts(): void {
  areReused = true
}

/** The port for a platform of this process. */
export const platformPort = (): Promise<number> => freePort(areReused ? returned.pop() : undefined)

/** Returns the port of a closed platform, for the next one. */
export function returnPort(port: number): void {
  returned.push(port)
}
