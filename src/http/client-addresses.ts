/** Keeps the address of each client for as long as its requests are handled. */
import type { Server } from 'node:net'

/**
 * Node.js asks the system for the address of a socket when `remoteAddress` is first read. Once the client has left, the
 * system does not know it any more. But a request that has arrived completely is still handled, and limits and records
 * need its address. So we read the address when the connection is made.
 */
export function keepClientAddresses(server: Server): void {
  server.on('connection', socket => {
    // If there is no address, the client has already left.
    if (socket.remoteAddress === undefined) socket.destroy()
  })
}
