/**
 * Reads results of hundreds of megabytes. `copy ... to stdout` sends bytes, which are passed on as they arrive, as fast
 * as the reader takes them. Even a large field is never in memory as a whole. All bytes pass through three buffers per
 * connection, because fresh memory for each piece would cause long pauses of the garbage collector.
 */
import { Socket } from 'node:net'
import type { Duplex, Writable } from 'node:stream'
import type pg from 'pg'
import { DomainError } from '../../errors.ts'
import { type CopyForm, createCopyReader } from './copy-format.ts'
import { createGathering } from './gathering.ts'

/**
 * While a read runs, PostgreSQL cannot clean up deleted rows. So the read is ended when the reader takes nothing for `stallMs`, or
 * has not taken everything after `wholeMs`.
 */
export type ReadLimits = { stallMs: number; wholeMs: number }

export type LongRead = {
  /**
   * Resolves when the first bytes have arrived, or when the query has no rows. Rejects when the database fails before
   * that.
   */
  begun: Promise<void>
  /** Resolves when everything is written; rejects when the database or the reader fails or takes too long. */
  ended: Promise<void>
  /** Writes everything to `taker` without ending it. @returns `ended` */
  writeTo(taker: Writable): Promise<void>
  /** Ends the read early; the connection cannot be used again. */
  stop(reason: Error): void
}

type Lender = Duplex & { lend(isLending: boolean): void }

const receivedBytes = 256 * 1024

/**
 * A socket for a client of `copyAsJson` or `copyAsText`. During a copy it reuses its buffer, so received bytes are
 * valid only until the listeners return.
 *
 * @param connection the settings of the client's connection; with TLS this is an ordinary socket, which copies the
 *   bytes
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
 * Reads the rows of a query as a JSON array. Each row must be the text of one element with a comma before it. A row may
 * have several columns: their texts are joined.
 *
 * @param client preferably the client of a `longRead`, because it has a `lendingSocket`; it is busy until everything is
 *   written
 * @param text a query without parameters
 */
export const copyAsJson = (client: pg.ClientBase, text: string, limits: ReadLimits): LongRead =>
  copyOut(client, text, { form: 'json', limits })

/** Reads the texts, or bytes, of all columns of all rows, one after the other. @param client as for `copyAsJson` */
export const copyAsText = (client: pg.ClientBase, text: string, limits: ReadLimits): LongRead =>
  copyOut(client, text, { form: 'text', limits })

function copyOut(
  client: pg.ClientBase,
  text: string,
  { form, limits }: { form: CopyForm; limits: ReadLimits },
): LongRead {
  const begun = Promise.withResolvers<void>()
  const ended = Promise.withResolvers<void>()
  // A caller may wait for only one of the two promises; the other must not become an unhandled rejection.
  for (const { promise } of [begun, ended]) promise.catch(() => {})
  const settle = (error: Error | null) => {
    clearTimeout(late)
    gathering.stop()
    if (error) {
      begun.reject(error)
      ended.reject(error)
    } else ended.resolve()
    // The socket may be paused. Resume it, because a paused socket does not emit `end` when its connection ends.
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
    onError: settle,
  })
  const reader = createCopyReader(form)
  const source = createSource(received => {
    const { target, used } = gathering.room(received.length)
    const { end, rest } = reader.read(received, target, used)
    if (end > used) begun.resolve()
    return { rest, goOn: gathering.fill(end) }
  })
  client.query({
    submit: connection =>
      source.take(connection.stream, () => connection.query(`copy (${text}) to stdout (format binary)`)),
    handleError: settle,
    handleCommandComplete() {},
    handleReadyForQuery() {
      // If the query has no rows, no bytes arrived before this, and `begun` is still pending.
      begun.resolve()
      gathering.finish()
    },
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
  /** Receives all data of the connection until the copy is complete. `ask` sends the statement of the copy. */
  take(stream: Duplex, ask: () => void): void
  resume(): void
}

/**
 * Takes over a connection's data from its client for the time of a copy.
 *
 * @param onReceived called with received bytes. It returns `goOn`: false to pause the connection; and `rest`: null
 *   until the copy has ended, then the bytes after its end, which the client must get
 */
function createSource(onReceived: (received: Buffer) => { rest: Buffer | null; goOn: boolean }): Source {
  let stream: Duplex | null = null
  const lend = (isLending: boolean) => {
    if (stream && 'lend' in stream) (stream as Lender).lend(isLending)
  }
  return {
    take(connection, ask) {
      stream = connection
      const usual = connection.listeners('data') as ((bytes: Buffer) => void)[]
      const onData = (received: Buffer) => {
        const { rest, goOn } = onReceived(received)
        if (!goOn) connection.pause()
        if (!rest) return
        connection.off('data', onData)
        lend(false)
        for (const listener of usual) connection.on('data', listener)
        for (const listener of usual) listener(rest)
      }
      for (const listener of usual) connection.off('data', listener)
      connection.on('data', onData)
      lend(true)
      ask()
    },
    resume: () => void stream?.resume(),
  }
}
