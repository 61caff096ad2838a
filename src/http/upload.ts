/** The body of a request as a file of any length that comes at its own pace. */
import { Readable } from 'node:stream'
import { DomainError } from '../errors.ts'

/** An upload that sends nothing for so long is given up, with the connection and the transaction that it keeps. */
const longestStillMs = 60_000

const unbounded = { mostBytes: Number.POSITIVE_INFINITY, longestMs: Number.POSITIVE_INFINITY }

export type DrainBounds = { mostBytes: number; longestMs: number }

export type Upload = {
  /** The bytes. It fails with a DomainError when the upload stands still; ending it early leaves the request as it is. */
  source: Readable
  /**
   * Reads what is left, so that a client that sends before it listens gets its answer.
   *
   * @returns false when there is no end to it
   */
  drain(bounds?: DrainBounds): Promise<boolean>
}

export function openUpload(body: Readable, stillMs = longestStillMs): Upload {
  // The request is not to be destroyed with its body: it still has to be answered.
  const chunks = body.iterator({ destroyOnReturn: false })
  const next = () => withinTime(chunks.next(), stillMs)
  return {
    source: Readable.from(all(next), { objectMode: false }),
    async drain({ mostBytes, longestMs } = unbounded) {
      const giveUpAt = performance.now() + longestMs
      let size = 0
      try {
        for await (const chunk of all(next)) {
          size += (chunk as Uint8Array).length
          if (size > mostBytes || performance.now() > giveUpAt) return false
        }
        return true
      } catch {
        return false
      }
    },
  }
}

async function* all(next: () => Promise<IteratorResult<unknown>>): AsyncGenerator<unknown> {
  for (let chunk = await next(); !chunk.done; chunk = await next()) yield chunk.value
}

async function withinTime<T>(work: Promise<T>, timeMs: number): Promise<T> {
  const late = Promise.withResolvers<never>()
  const fault = new DomainError('invalid', `The upload stood still for ${timeMs / 1000} s; nothing was kept`)
  const timer = setTimeout(() => late.reject(fault), timeMs)
  try {
    return await Promise.race([work, late.promise])
  } finally {
    clearTimeout(timer)
  }
}
