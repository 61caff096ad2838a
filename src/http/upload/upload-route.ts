/** Routes whose body is a file that is read as it comes: what they take, and how a client that sends before it listens gets its answer. */
import { Readable } from 'node:stream'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { validatorCompiler } from '../input/validation.ts'
import { type DrainBounds, openUpload, SlowUploadError } from './upload.ts'

export const csvType = 'text/csv'

/** To be spread into the options of each route of a plugin with `takeUploads`; its schema's `body` is for the documentation alone. */
export const uploadRoute = (bodyType: string) =>
  ({
    config: { longUpload: true, bodyType },
    validatorCompiler: (part =>
      part.httpPart === 'body' ? () => true : validatorCompiler(part)) as typeof validatorCompiler,
  }) as const

/** Every route of this plugin takes a body of this type, and nothing else. */
export function takeUploads(app: FastifyInstance, bodyType: string): void {
  app.removeAllContentTypeParsers()
  // It is read as it comes, so it is handed on unread.
  app.addContentTypeParser(bodyType, async (_: unknown, body: Readable) => body)
}

/** Lends `work` the body of a request. Should it fail, the rest is read before that is told: clients send before they listen. */
export async function withUpload<T>(
  request: FastifyRequest,
  reply: FastifyReply,
  work: (source: Readable, begun: () => Promise<void>) => Promise<T>,
  bounds?: DrainBounds,
): Promise<T> {
  const upload = openUpload(request.body instanceof Readable ? request.body : Readable.from([]))
  try {
    return await work(upload.source, () => upload.begun)
  } catch (error) {
    const isWorthReading = !(error instanceof SlowUploadError)
    if (!isWorthReading || !(await upload.drain(bounds))) reply.raw.shouldKeepAlive = false
    throw error
  }
}
