/**
 * Connections that hold a descriptor and do nothing. Clients open some in advance, and these may wait as long as between two requests;
 * but nobody keeps the others out with many of them. A client that takes no answer is not waited for either.
 */
import { readFileSync } from 'node:fs'
import type { Server as HttpServer } from 'node:http'
import type { Server, Socket } from 'node:net'

/** As long as a connection is kept between two requests. */
export const keptMs = 65_000
/** A client that has taken nothing of an answer for so long has gone, or holds the connection for its own sake. */
const stalledMs = 30_000
const lookEveryMs = 5_000

/** @returns ends what is silent, when the server stops: nothing has been asked there */
export function endSilentConnections(server: Server): () => void {
  const most = Math.min(4_096, Math.floor(descriptorLimit() / 4))
  /** With the time since when; the oldest first. */
  const silent = new Map<Socket, number>()
  const hasSpoken = (socket: Socket): boolean => socket.bytesRead > 0

  server.on('connection', socket => {
    silent.set(socket, performance.now())
    socket.once('close', () => silent.delete(socket))
    if (silent.size > most) makeRoom()
  })
  const makeRoom = () => {
    for (const socket of silent.keys()) {
      if (silent.size <= most) return
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

/** Ends connections whose clients take nothing of their answer, and those that Node.js has kept for the next request long enough. */
export function endStalledConnections(server: HttpServer): void {
  server.setTimeout(stalledMs, socket => {
    // Between two requests Node.js sets another time; a request that is still being worked on has nothing to be taken.
    if (socket.timeout !== stalledMs || socket.writableLength > 0) socket.destroy()
  })
}

/** How many descriptors this process may have, as Linux tells it; elsewhere the usual few. */
function descriptorLimit(): number {
  try {
    const limits = readFileSync('/proc/self/limits', 'utf8')
    return Number(/^Max open files +(\d+)/m.exec(limits)?.[1] ?? 1_024)
  } catch {
    return 1_024
  }
}
