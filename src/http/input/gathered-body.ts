/**
 * Copies the chunks of a body into one buffer while they arrive. Joining 16 MiB at the end would block other requests
 * for 10 ms. After each chunk of 64 KiB, `gatherBody` frees the chunk's memory and pauses until the next turn of the
 * event loop. Without the pauses, up to 32 chunks of a fast body would be in memory at once, and the garbage collector
 * would stop all requests to free them.
 */
import type { IncomingMessage } from 'node:http'
import { errorCodes, type FastifyRequest } from 'fastify'
import { freeMemory, giveBackMemory, takeMemory } from './body-memory.ts'

/** Follows a body while it arrives. */
export type BodyObserver = {
  /** Called with each chunk. */
  add(piece: Buffer): void
  /**
   * Called once, after the last chunk. @returns true when the answer is already known, so the body need not be parsed
   */
  finish(): Promise<boolean>
}

/**
 * Reading pauses after at least this many bytes, so that other requests are served. For fewer bytes a pause would cost
 * too much.
 */
const bytesOfTurn = 32 * 1024

declare module 'fastify' {
  interface FastifyRequest {
    /** Code that must see the bytes of the body sets this before the body is read. */
    bodyObserver: BodyObserver | null
  }
}

/**
 * @param onBody called with the whole body; it must call `giveBackMemory` when the body is not needed any more
 * @param onError called with the error to answer: the body is longer than the route accepts, or not as long as
 *   announced
 */
export function gatherBody(
  request: FastifyRequest,
  payload: IncomingMessage,
  onBody: (body: Buffer<ArrayBuffer>) => void,
  onError: (error: Error) => void,
): void {
  const announced = Number(request.headers['content-length'] ?? Number.NaN)
  const { bodyLimit = 0 } = request.routeOptions
  if (announced > bodyLimit) {
    onError(new errorCodes.FST_ERR_CTP_BODY_TOO_LARGE())
    return
  }
  const maxArrived = payload.complete ? Math.min(bodyLimit, payload.readableLength) : bodyLimit
  const maxBytes = Number.isNaN(announced) ? maxArrived : announced
  const body = takeMemory(maxBytes)
  let length = 0
  let pausedAt = 0
  const stop = () => payload.off('data', take).off('end', finish).off('error', onBroken)
  const fail = (error: Error): void => {
    stop()
    giveBackMemory(body)
    onError(error)
  }
  const onBroken = (error: Error): void => fail(Object.assign(error, { statusCode: 400 }))
  const take = (piece: Buffer): void => {
    if (length + piece.length > maxBytes) fail(new errorCodes.FST_ERR_CTP_BODY_TOO_LARGE())
    else {
      request.bodyObserver?.add(piece)
      length += piece.copy(body, length)
      freeMemory(piece)
      if (length < maxBytes && length - pausedAt >= bytesOfTurn) {
        pausedAt = length
        payload.pause()
        setImmediate(() => payload.resume())
      }
    }
  }
  const finish = (): void => {
    if (!Number.isNaN(announced) && length !== announced) fail(new errorCodes.FST_ERR_CTP_INVALID_CONTENT_LENGTH())
    else {
      stop()
      onBody(body.subarray(0, length))
    }
  }
  payload.on('data', take).on('end', finish).on('error', onBroken)
  payload.resume()
}
