/**
 * Routes whose body is a file that is read as it arrives. Many clients read the answer only after they have sent the
 * whole body. They get error answers, too.
 */
import { Readable } from 'node:stream'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { validatorCompiler } from '../input/validation.ts'
import { type DrainBounds, openUpload, SlowUploadError } from './upload.ts'

export const csvType = 'text/csv'

/**
 * Options for each route of a plugin that calls `takeUploads`. The `body` in the schema of such a route is only for the
 * documentation; it is not validated.
 */
export const uploadRoute = (bodyType: string) =>
  ({
    config: { longUpload: true, bodyType },
    validatorCompiler: (part =>
      part.httpPart === 'body' ? () => true : validatorCompiler(part)) as typeof validatorCompiler,
  }) as const

/** Makes every route of this plugin accept a body of this type and nothing else. */
export function takeUploads(app: FastifyInstance, bodyType: string): void {
  app.removeAllContentTypeParsers()
  // Pass the body on as a stream, because the operation itself reads it.
  app.addContentTypeParser(bodyType, async (_: unknown, body: Readable) => body)
}

/**
 * Passes the body of a request to `work`. If the caller loses access while it sends, the body ends with an error. After
 * an error, the rest of the body is drained before the answer, because many clients read only after they have sent
 * everything. The rest of a too slow body is not drained.
 */
export async function withUpload<T>(
  request: FastifyRequest,
  reply: FastifyReply,
  work: (source: Readable, begun: () => Promise<void>) => Promise<T>,
  bounds?: DrainBounds,
): Promise<T> {
  const body = request.body instanceof Readable ? request.body : Readable.from([])
  const upload = openUpload(body, { atEnd: () => request.requireAccess?.() })
  try {
    return await work(upload.source, () => upload.begun)
  } catch (error) {
    const isWorthReading = !(error instanceof SlowUploadError)
    if (!isWorthReading || !(await upload.drain(bounds))) reply.raw.shouldKeepAlive = false
    throw error
  }
}
