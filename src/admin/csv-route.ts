/** Routes of the operator that take a file, and nothing but a file: CSV of any length, read as it comes. */
import { Readable } from 'node:stream'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { openUpload } from '../http/upload.ts'
import { validatorCompiler } from '../http/validation.ts'

const bodyType = 'text/csv'

/** To be spread into the options of each route of such a plugin; its schema's `body` is for the documentation alone. */
export const csvRoute = {
  config: { longUpload: true, bodyType },
  validatorCompiler: (part =>
    part.httpPart === 'body' ? () => true : validatorCompiler(part)) as typeof validatorCompiler,
} as const

export function takeCsvFiles(app: FastifyInstance): void {
  app.removeAllContentTypeParsers()
  // The file is read as it comes, so it is handed on unread; its length has no limit.
  app.addContentTypeParser(bodyType, async (_: unknown, body: Readable) => body)
}

/** Lends `work` the file of a request. Should it fail, the rest is read before that is told: clients send before they listen. */
export async function withCsvFile<T>(
  request: FastifyRequest,
  reply: FastifyReply,
  work: (source: Readable) => Promise<T>,
): Promise<T> {
  const upload = openUpload(request.body instanceof Readable ? request.body : Readable.from([]))
  try {
    return await work(upload.source)
  } catch (error) {
    if (!(await upload.drain())) reply.raw.shouldKeepAlive = false
    throw error
  }
}
