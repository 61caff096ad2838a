/**
 * Handles the requests of a connection one after the other. A client may send further requests before it has read an
 * answer, and Node.js passes on each of them at once. Without this module each would open its file and hold a part of
 * its answer, although the answers can only be sent in order (contract/limits.md, "Requests").
 */
import type { Socket } from 'node:net'
import process from 'node:process'
import type { FastifyInstance } from 'fastify'

/** How many requests of a connection may wait behind the one that is being handled. */
const maxWaiting = 16

/**
 * Call this before other hooks are added. A request is handled once Node.js gives the connection to its response
 * ("check at an upgrade", CONTRIBUTING.md). This happens when the answer before it has been sent. If the client leaves
 * earlier, the waiting requests are dropped.
 */
export function handleInTurn(app: FastifyInstance): void {
  const waiting = new WeakMap<Socket, number>()
  // This listener must run before Fastify's. It also counts requests that reach no hook.
  app.server.prependListener('request', ({ socket }, response) => {
    if (response.socket !== null) return
    const before = waiting.get(socket) ?? 0
    // Node.js still passes on the other requests of the same packet, but they are never handled.
    if (before >= maxWaiting) return void socket.destroy()
    waiting.set(socket, before + 1)
    response.once('socket', () => waiting.set(socket, (waiting.get(socket) ?? 1) - 1))
  })
  app.addHook('onRequest', (_request, { raw }, done) => {
    if (raw.socket !== null) done()
    // Continue only after the event, because Node.js would end an answer twice that is sent within the event.
    else raw.once('socket', () => process.nextTick(done))
  })
}
