/**
 * Ends idle connections: those on which no request is being handled. A client may open connections before it needs them,
 * and keep them between its requests, but each one holds a file descriptor. So a connection may be idle only for
 * `keptMs`, and when too many are idle, those that have been idle longest are ended. This module also disconnects
 * clients that do not read their answer.
 */
import { readFileSync } from 'node:fs'
import type { Server as HttpServer, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import { breakOff } from './answer/streams.ts'

/** How long a connection stays open before its first request, and between two requests. */
export const keptMs = 65_000
/** A client that has read nothing of an answer for this long is disconnected. */
const stalledMs = 30_000
const lookEveryMs = 5_000

/**
 * Ends idle connections while the server runs. Node.js itself limits how long a client may take for its headers, and
 * how long a connection waits after an answer.
 *
 * @returns a function for the stop of the server. It ends connections on which nothing was ever sent. It ends
 *   connections with an unfinished header when the time for headers is over.
 */
export function endIdleConnections(server: HttpServer): () => void {
  const max = Math.min(4_096, Math.floor(descriptorLimit() / 4))
  /** For each idle connection, since when it is idle. The one that has been idle longest is first. */
  const idle = new Map<Socket, number>()
  const newestAnswer = new WeakMap<Socket, ServerResponse>()

  const noteIdle = (socket: Socket) => {
    idle.set(socket, performance.now())
    if (idle.size > max) for (const oldest of idle.keys()) return endIdle(oldest)
  }
  const endIdle = (socket: Socket) => {
    idle.delete(socket)
    socket.destroy()
  }
  server.on('connection', socket => {
    noteIdle(socket)
    socket.once('close', () => idle.delete(socket))
  })
  server.on('request', ({ socket }, response) => {
    idle.delete(socket)
    newestAnswer.set(socket, response)
    // A client may send its next request before it has the answer to this one.
    response.once('close', () => {
      if (newestAnswer.get(socket) === response && !socket.destroyed) noteIdle(socket)
    })
  })

  const endSilent = (beforeMs: number) => {
    for (const [socket, sinceMs] of idle) if (socket.bytesRead === 0 && sinceMs < beforeMs) endIdle(socket)
  }
  const timer = setInterval(() => endSilent(performance.now() - keptMs), lookEveryMs)
  timer.unref()
  server.once('close', () => clearInterval(timer))
  return () => {
    endSilent(Number.POSITIVE_INFINITY)
    // Once the server is closed, Node.js itself does not limit the time of headers any more.
    setTimeout(() => {
      for (const socket of idle.keys()) endIdle(socket)
    }, server.headersTimeout).unref()
  }
}

/** Ends connections whose clients do not read their answer, and idle ones that Node.js has kept long enough. */
export function endStalledConnections(server: HttpServer): void {
  server.setTimeout(stalledMs, socket => {
    // Another timeout means that the connection waits between two requests (set by Node.js), so end it. While a request
    // is still processed, the client has nothing to read yet, so its connection stays open.
    if (socket.writableLength > 0) breakOff(socket)
    else if (socket.timeout !== stalledMs) socket.destroy()
  })
}

/** The limit of file descriptors of this process on Linux; on other systems 1,024. */
function descriptorLimit(): number {
  try {
    const limits = readFileSync('/proc/self/limits', 'utf8')
    return Number(/^Max open files +(\d+)/m.exec(limits)?.[1] ?? 1_024)
  } catch {
    return 1_024
  }
}
