/**
 * Reads that may be hundreds of megabytes: `copy ... to stdout`, whose bytes are handed on as they come, at the pace of whoever takes
 * them. Neither a row nor a field is ever held whole, and everything passes through three buffers for each connection: fresh memory
 * for each piece would keep the garbage collector busy with long pauses.
 */
import { Socket } from 'node:net'
import type { Duplex, Writable } from 'node:stream'
import type pg from 'pg'
import { DomainError } from '../../errors.ts'
import { createCopyReader } from './copy-format.ts'
import { createGathering } from './gathering.ts'

/** Whoever reads holds a snapshot of the database, so it is cut off when it takes nothing, or not everything, for this long. */
export type ReadLimits = { stallMs: number; wholeMs: number }

export type LongRead = {
  /** Fulfilled when the first bytes are there, and rejected when the database fails before. */
  begun: Promise<void>
  /** Fulfilled when everything is written; rejected when the database or the taker fails, or takes too long. */
  ended: Promise<void>
  /** Writes everything to `taker`, without ending it. @returns `ended` */
  writeTo(taker: Writable): Promise<void>
  /** Ends the read before its time; the connection is of no use any more. */
  stop(reason: Error): void
}

type Lender = Duplex & { lend(isLending: boolean): void }

const receivedBytes = 256 * 1024

/**
 * A socket for a client of `copyAsJson`. While it lends, what it has received is valid only until its listeners return.
 *
 * @param connection of the client; with TLS the bytes take another way
 */
export function lendingSocket(connection?: { ssl?: unknown }): Socket {
  if (connection?.ssl) return new Socket()
  let lending = false
  const buffer = Buffer.allocUnsafeSlow(receivedBytes)
  const socket: Socket = new Socket({
    onread: {
      buffer,
      callback(bytes) {
        const received = buffer.subarray(0, bytes)
        socket.emit('data', lending ? received : Buffer.from(received))
        return true
      },
    },
  })
  const lend: Lender['lend'] = isLending => {
    lending = isLending
  }
  return Object.assign(socket, { lend })
}

/**
 * The rows of a query as a JSON array: the text of all their columns one after the other, which has a comma before each element.
 *
 * @param client best with a `lendingSocket`, as `longRead` gives it; busy until everything is written
 * @param text a query without parameters
 */
export function copyAsJson(client: pg.ClientBase, text: string, limits: ReadLimits): LongRead {
  const begun = Promise.withResolvers<void>()
  const ended = Promise.withResolvers<void>()
  // Whoever does not wait for one of them learns of a fault by the other.
  for (const { promise } of [begun, ended]) promise.catch(() => {})
  const settle = (error: Error | null) => {
    clearTimeout(late)
    gathering.stop()
    if (error) {
      begun.reject(error)
      ended.reject(error)
    } else ended.resolve()
    // Only a flowing socket sees its end.
    source.resume()
  }
  const cut = () =>
    settle(new DomainError('unavailable', 'Reading has taken too long; try again', { retryAfterSeconds: 10 }))
  const late = setTimeout(cut, limits.wholeMs)

  const gathering = createGathering({
    pieceBytes: receivedBytes,
    stallMs: limits.stallMs,
    onRoom: () => source.resume(),
    onWritten: () => settle(null),
    onStall: cut,
    onFault: settle,
  })
  const reader = createCopyReader()
  const source = createSource(received => {
    const { target, used } = gathering.room(received.length)
    const { end, rest } = reader.read(received, target, used)
    if (end > used) begun.resolve()
    return { rest, goOn: gathering.fill(end) }
  })
  client.query({
    submit: given => source.take(given.stream, () => given.query(`copy (${text}) to stdout (format binary)`)),
    handleError: settle,
    handleCommandComplete() {},
    handleReadyForQuery: () => gathering.finish(),
  } as pg.Submittable)

  return {
    begun: begun.promise,
    ended: ended.promise,
    writeTo(taker) {
      gathering.begin(taker)
      return ended.promise
    },
    stop: settle,
  }
}

type Source = {
  /** From now on what the connection receives comes here, until the copy is complete. */
  take(stream: Duplex, ask: () => void): void
  resume(): void
}

/** @param onReceived tells what is for the client of the connection again, and whether more may come */
function createSource(onReceived: (received: Buffer) => { rest: Buffer | null; goOn: boolean }): Source {
  let stream: Duplex | null = null
  const lend = (isLending: boolean) => {
    if (stream && 'lend' in stream) (stream as Lender).lend(isLending)
  }
  return {
    take(given, ask) {
      stream = given
      const usual = given.listeners('data') as ((bytes: Buffer) => void)[]
      const onData = (received: Buffer) => {
        const { rest, goOn } = onReceived(received)
        if (!goOn) given.pause()
        if (!rest) return
        given.off('data', onData)
        lend(false)
        for (const listener of usual) given.on('data', listener)
        for (const listener of usual) listener(rest)
      }
      for (const listener of usual) given.off('data', listener)
      given.on('data', onData)
      lend(true)
      ask()
    },
    resume: () => void stream?.resume(),
  }
}
