/**
 * Handles the requests of a connection one after the other. A client may send further requests before it has read an
 * answer, and Node.js passes on each of them at once. Without this module each would open its file and hold a part of
 * its answer, although the answers can only be sent in order (contract/limits.md, "Requests").
 */

import type { IncomingMessage } from 'node:http'
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
  const isDropped = endAfterUpgrades(app)
  // This listener must run before Fastify's. It also counts requests that reach no hook.
  app.server.prependListener('request', ({ socket }, response) => {
    if (response.socket !== null) return
    const before = waiting.get(socket) ?? 0
    // Node.js still passes on the other requests of the same packet, but they are never handled.
    if (before >= maxWaiting) return void socket.destroy()
    waiting.set(socket, before + 1)
    response.once('socket', () => waiting.set(socket, (waiting.get(socket) ?? 1) - 1))
  })
  app.addHook('onRequest', (request, { raw }, done) => {
    if (isDropped(request.raw)) return
    if (raw.socket !== null) done()
    // Continue only after the event, because Node.js would end an answer twice that is sent within the event.
    else raw.once('socket', () => process.nextTick(done))
  })
}

/**
 * Ends a connection after the answer to a request with the header `Upgrade`. We support no other protocol, so it is
 * answered as HTTP. But Node.js loses the bytes behind it that arrived in the same packet. It would take what follows
 * them, such as the body of a lost request, for a request.
 *
 * @returns whether a request came behind such a one. It must not be handled
 */
function endAfterUpgrades(app: FastifyInstance): (request: IncomingMessage) => boolean {
  const ending = new WeakSet<Socket>()
  const dropped = new WeakSet<IncomingMessage>()
  app.server.prependListener('request', (request, response) => {
    const { socket, headers } = request
    if (ending.has(socket)) return void dropped.add(request)
    if (headers.upgrade === undefined) return
    response.shouldKeepAlive = false
    ending.add(socket)
  })
  return request => dropped.has(request)
}
