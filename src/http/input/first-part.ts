/** Waits for the beginning of a body. */
import type { IncomingMessage } from 'node:http'

/**
 * Waits until this many bytes of a body, or the whole body, have arrived. It does not read them.
 *
 * @param bytes at most the payload's `readableHighWaterMark`
 * @throws Error with `statusCode` 400 when the body breaks off
 */
export async function firstPart(payload: IncomingMessage, bytes: number): Promise<void> {
  const hasArrived = () => payload.complete || payload.readableLength >= bytes
  if (hasArrived()) return
  const { promise, resolve, reject } = Promise.withResolvers<void>()
  const look = () => {
    if (hasArrived()) resolve()
  }
  const onBroken = (error: Error) => reject(Object.assign(error, { statusCode: 400 }))
  payload.on('readable', look).on('error', onBroken)
  try {
    await promise
  } finally {
    payload.off('readable', look).off('error', onBroken)
  }
}
