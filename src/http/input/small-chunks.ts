/**
 * Refuses chunked bodies whose chunks are very small. Each chunk costs the same work, so chunks of one byte would slow
 * down other requests (contract/limits.md, "Bodies").
 */
import type { IncomingMessage, Server, ServerResponse } from 'node:http'
import process from 'node:process'
import { DomainError } from '../../errors.ts'
import { breakBody, endConnection } from './unreadable.ts'

/** A body may have this many chunks of any size. */
const freeChunks = 8_192
/** For each further chunk, the body must have this many bytes. */
const minAverageBytes = 32

/** The error of a body whose chunks are too small. The connection ends after it, because the rest of the body is not read. */
export class SmallChunksError extends DomainError {
  constructor() {
    super('invalid', 'The chunks of the body are too small')
  }
}

/** Watches the chunked bodies of all requests, even of those whose body nobody reads. */
export function limitSmallChunks(server: Server): void {
  // This listener must run before Fastify's, which may answer a request at once.
  server.prependListener('request', (request, response) => {
    if (request.headers['transfer-encoding'] !== undefined) watchChunks(request, response)
  })
}

/** Node.js calls `push` of a request once for each chunk ("check at an upgrade", CONTRIBUTING.md). */
function watchChunks(request: IncomingMessage, response: ServerResponse): void {
  const push = request.push.bind(request)
  let chunks = 0
  let bytes = 0
  let isRefused = false
  request.push = (chunk: Buffer | null) => {
    // Pass on nothing after the refusal, not even the end. Otherwise the reader would take the beginning for the whole
    // body.
    if (isRefused) return false
    if (chunk !== null) {
      chunks++
      bytes += chunk.length
    }
    isRefused = chunks > freeChunks + bytes / minAverageBytes
    if (!isRefused) return push(chunk)
    stopReading(request, response)
    return false
  }
  // Read the rest of the body after the answer. Otherwise Node.js would drop it without calling `push`.
  response.once('prefinish', () => {
    if (!request.complete) request.resume()
  })
}

/** Ends the connection after the answer. If the answer has not begun, it becomes a 400. */
function stopReading(request: IncomingMessage, response: ServerResponse): void {
  const { socket } = request
  // This makes Node.js stop reading from the connection.
  request._read = () => {}
  // Node.js calls `destroySoon` after the last answer. Destroying a connection at once can lose an answer that the client has not read.
  socket.destroySoon = () => endConnection(socket)
  response.shouldKeepAlive = false
  if (response.writableFinished) endConnection(socket)
  else if (response.headersSent) response.once('finish', () => endConnection(socket))
  else process.nextTick(breakBody, request, new SmallChunksError())
}
