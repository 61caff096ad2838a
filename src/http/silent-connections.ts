/**
 * Ends silent connections: those on which the client has sent nothing yet. A client may open connections before it needs
 * them, but each one holds a file descriptor. So a connection may be silent only for `keptMs`, and when too many are
 * silent, the oldest are ended. This module also disconnects clients that do not read their answer.
 */
import { readFileSync } from 'node:fs'
import type { Server as HttpServer } from 'node:http'
import type { Server, Socket } from 'node:net'
import { breakOff } from './answer/streams.ts'

/** How long a connection stays open before its first request, and between two requests. */
export const keptMs = 65_000
/** A client that has read nothing of an answer for this long is disconnected. */
const stalledMs = 30_000
const lookEveryMs = 5_000

/**
 * Ends silent connections while the server runs. @returns a function that ends all of them, for the stop of the server
 */
export function endSilentConnections(server: Server): () => void {
  const max = Math.min(4_096, Math.floor(descriptorLimit() / 4))
  /** For each silent connection, the time at which it was opened. The oldest connection is first. */
  const silent = new Map<Socket, number>()
  const hasSpoken = (socket: Socket): boolean => socket.bytesRead > 0

  server.on('connection', socket => {
    silent.set(socket, performance.now())
    socket.once('close', () => silent.delete(socket))
    if (silent.size > max) makeRoom()
  })
  const makeRoom = () => {
    for (const socket of silent.keys()) {
      if (silent.size <= max) return
      silent.delete(socket)
      if (!hasSpoken(socket)) socket.destroy()
    }
  }
  const forgetSpoken = () => {
    for (const socket of silent.keys()) if (hasSpoken(socket)) silent.delete(socket)
  }
  const timer = setInterval(() => {
    forgetSpoken()
    const before = performance.now() - keptMs
    for (const [socket, sinceMs] of silent) if (sinceMs < before) socket.destroy()
  }, lookEveryMs)
  timer.unref()
  server.once('close', () => clearInterval(timer))
  return () => {
    forgetSpoken()
    for (const socket of silent.keys()) socket.destroy()
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
