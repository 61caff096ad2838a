/** Keeps the address of each client for as long as its requests are handled. */
import type { Server } from 'node:net'

/**
 * Node.js asks the system for the address of a socket when it is first read, and cannot do so once the client has left.
 * A request that has arrived whole is handled all the same, and its address is needed for limits and records. So it
 * is read when the connection is made.
 */
export function keepClientAddresses(server: Server): void {
  server.on('connection', socket => {
    // Without an address, the client has left already.
    if (socket.remoteAddress === undefined) socket.destroy()
  })
}
