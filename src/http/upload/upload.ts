/** The body of a request as a file of any length and speed. */
import { Readable } from 'node:stream'

/**
 * The minimum rate of an upload: `bytes` in every `spanMs`. For its first `bytes`, an upload has twice this time. Only
 * the time in which we wait for the client counts.
 */
export type UploadRate = { bytes: number; spanMs: number }

const minRate: UploadRate = { bytes: 32 * 1024, spanMs: 30_000 }

/**
 * The error of an upload that is ended because it is too slow. Uploads are limited in number, and each uses a database
 * connection and a transaction.
 */
export class SlowUploadError extends Error {
  readonly statusCode = 408
  constructor({ bytes, spanMs }: UploadRate) {
    super(`The upload came too slowly: at least ${bytes / 1024} KiB in ${spanMs / 1000} s are needed. Nothing was kept`)
  }
}

const unbounded = { maxBytes: Number.POSITIVE_INFINITY, maxMs: Number.POSITIVE_INFINITY }

export type DrainBounds = { maxBytes: number; maxMs: number }

export type Upload = {
  /**
   * Resolves when `firstBytes` bytes, or all of a shorter body, have arrived. Only then does the caller count the
   * upload towards the limit of concurrent uploads.
   */
  begun: Promise<void>
  /**
   * The bytes of the upload. The stream fails with a SlowUploadError when they arrive too slowly. Ending the stream
   * early does not destroy the request.
   */
  source: Readable
  /**
   * Drains the rest, so that a client that reads only after it has sent everything gets its answer.
   *
   * @returns false when the rest is longer, or takes longer, than `bounds` allows, or breaks off
   */
  drain(bounds?: DrainBounds): Promise<boolean>
}

/** An upload counts towards the limit of concurrent uploads only after this many of its bytes were read. */
const firstBytes = 64 * 1024

/**
 * Opens an upload. @param options.atEnd called before the source ends; if it throws, the source fails with that error
 */
export function openUpload(
  body: Readable,
  { rate = minRate, atEnd = () => {} }: { rate?: UploadRate; atEnd?: () => void } = {},
): Upload {
  // Without `destroyOnReturn: false`, ending the body early would destroy the request before it is answered.
  const next = atRate(body.iterator({ destroyOnReturn: false }), rate)
  const first: unknown[] = []
  let reading: Promise<void> | undefined
  const readFirst = async () => {
    for (let size = 0; size < firstBytes; ) {
      const chunk = await next()
      if (chunk.done) return
      first.push(chunk.value)
      size += (chunk.value as Uint8Array).length
    }
  }
  const begin = () => {
    reading ??= readFirst()
    return reading
  }
  const everything = async function* () {
    await begin()
    for (let chunk = first.shift(); chunk !== undefined; chunk = first.shift()) yield chunk
    yield* all(next)
    atEnd()
  }
  return {
    get begun() {
      return begin()
    },
    source: Readable.from(everything(), { objectMode: false }),
    async drain({ maxBytes, maxMs } = unbounded) {
      const giveUpAt = performance.now() + maxMs
      let size = 0
      try {
        for await (const chunk of all(next)) {
          size += (chunk as Uint8Array).length
          if (size > maxBytes || performance.now() > giveUpAt) return false
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

/** Reads chunks as they arrive. @throws SlowUploadError when they arrive more slowly than `rate` allows */
function atRate(chunks: AsyncIterator<unknown>, rate: UploadRate): () => Promise<IteratorResult<unknown>> {
  let [waitedMs, came, isFirst] = [0, 0, true]
  return async () => {
    const startedMs = performance.now()
    // The first bytes may take two spans (`UploadRate`).
    const leftMs = rate.spanMs * (isFirst ? 2 : 1) - waitedMs
    const chunk = await withinTime(chunks.next(), leftMs, rate)
    waitedMs += performance.now() - startedMs
    if (!chunk.done) came += (chunk.value as Uint8Array).length
    if (came >= rate.bytes) [waitedMs, came, isFirst] = [0, 0, false]
    return chunk
  }
}

async function withinTime<T>(work: Promise<T>, timeMs: number, rate: UploadRate): Promise<T> {
  const late = Promise.withResolvers<never>()
  const timer = setTimeout(() => late.reject(new SlowUploadError(rate)), Math.max(1, timeMs))
  try {
    return await Promise.race([work, late.promise])
  } finally {
    clearTimeout(timer)
  }
}
