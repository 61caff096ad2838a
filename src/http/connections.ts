/**
 * Ends connections that nobody needs, because each one holds a file descriptor. A connection is *anonymous* while no
 * request of a known caller is handled on it: before its first request, between two requests, and during requests that
 * need no token. When there are too many anonymous connections, the oldest ones are ended, whatever happens on them:
 * otherwise clients without a token could take all descriptors. This module also disconnects clients that do not read
 * their answer.
 */
import { readFileSync } from 'node:fs'
import type { Server as HttpServer, IncomingMessage } from 'node:http'
import type { Socket } from 'node:net'
import { Readable } from 'node:stream'
import type { FastifyInstance } from 'fastify'
import { breakOff } from './answer/streams.ts'
import { isAwaitingAnswer } from './input/unreadable.ts'

declare module 'fastify' {
  interface FastifyRequest {
    /** Call this when the caller is known. From then until the request is answered, the connection is not anonymous. */
    keepConnection(): void
  }
}

/** How long a connection stays open before its first request, and between two requests. */
export const keptMs = 65_000
/** A client that has read nothing of an answer for this long is disconnected. */
const stalledMs = 30_000
const lookEveryMs = 5_000

/**
 * Limits the number of anonymous connections. Node.js itself limits how long headers may take once they have begun, and
 * how long a connection may be idle after an answer.
 *
 * @param share the fraction of the file descriptors that anonymous connections and the files sent on them may take
 * @returns a function to call when the server stops. It ends all connections on which nothing was ever sent. After
 *   Node's time limit for headers, it also ends all other anonymous connections that wait for no answer, such as those
 *   with an incomplete header
 */
export function limitAnonymousConnections(app: FastifyInstance, share: number): () => void {
  const { server } = app
  const max = Math.min(4_096, Math.floor(descriptorLimit() * share))
  /** When each anonymous connection became anonymous, the oldest first. */
  const anonymous = new Map<Socket, number>()
  /**
   * The newest request with a known caller, for each connection that is not anonymous. Node.js answers the requests of
   * a connection in order.
   */
  const known = new Map<Socket, IncomingMessage>()

  /** The number of files that are being sent on anonymous connections. Each file holds a descriptor, too. */
  let files = 0

  const note = (socket: Socket) => {
    anonymous.set(socket, performance.now())
    endOldest()
  }
  const endOldest = () => {
    if (anonymous.size + files > max) for (const oldest of anonymous.keys()) return end(oldest)
  }
  const end = (socket: Socket) => {
    anonymous.delete(socket)
    socket.destroy()
  }
  server.on('connection', socket => {
    note(socket)
    socket.once('close', () => {
      anonymous.delete(socket)
      known.delete(socket)
    })
  })
  app.decorateRequest('keepConnection', function () {
    const { socket } = this.raw
    // A connection in neither map has closed already.
    if (anonymous.delete(socket) || known.has(socket)) known.set(socket, this.raw)
  })
  app.addHook('onResponse', ({ raw }, _reply, done) => {
    // If the client has already sent a next request with a known caller, the connection does not become anonymous.
    if (known.get(raw.socket) === raw) {
      known.delete(raw.socket)
      note(raw.socket)
    }
    done()
  })

  app.addHook('onSend', ({ raw }, reply, payload, done) => {
    if (payload instanceof Readable && !payload.closed && anonymous.has(raw.socket)) {
      files++
      // Wait for the end of the answer, not of the payload: another hook may replace the payload.
      reply.raw.once('close', () => files--)
      endOldest()
    }
    done(null, payload)
  })

  const endSilent = (beforeMs: number) => {
    for (const [socket, sinceMs] of anonymous) if (socket.bytesRead === 0 && sinceMs < beforeMs) end(socket)
  }
  const timer = setInterval(() => endSilent(performance.now() - keptMs), lookEveryMs)
  timer.unref()
  server.once('close', () => clearInterval(timer))
  return () => {
    endSilent(Number.POSITIVE_INFINITY)
    // Once the server is closed, Node.js itself does not limit the time of headers any more.
    setTimeout(() => {
      for (const socket of anonymous.keys()) if (!isAwaitingAnswer(socket)) end(socket)
    }, server.headersTimeout).unref()
  }
}

/** Ends connections whose clients do not read their answer, and idle ones after Node.js's time limit for them. */
export function endStalledConnections(server: HttpServer): void {
  const stalled = new WeakMap<Socket, { sinceMs: number; lookedMs: number; written: number }>()
  // Node.js calls this when nothing has moved on a connection for `lookEveryMs`. But if the system has taken some
  // written data since the last call, Node.js first waits a second time. So one timeout of `stalledMs` could take twice
  // as long.
  server.setTimeout(lookEveryMs, socket => {
    // Between two requests, Node.js sets another timeout than `lookEveryMs`. When that one expires, end the connection.
    // While a request is processed, the client has nothing to read, so its connection stays open.
    if (socket.writableLength === 0) {
      if (socket.timeout !== lookEveryMs) socket.destroy()
      return
    }
    const nowMs = performance.now()
    const written = socket.bytesWritten - socket.writableLength
    const last = stalled.get(socket)
    // When Node.js has waited a second time, the client has read a part of the answer since the last call.
    const hasRead = !last || last.written !== written || nowMs - last.lookedMs > 1.9 * lookEveryMs
    const sinceMs = hasRead ? nowMs - lookEveryMs : last.sinceMs
    if (nowMs - sinceMs >= stalledMs) return breakOff(socket)
    stalled.set(socket, { sinceMs, lookedMs: nowMs, written })
    socket.setTimeout(lookEveryMs)
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
