/** Routes that take a form with one file: how long the body may take, and how a client that sends before it listens gets its answer. */
import { Readable } from 'node:stream'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { type FileForm, type FileFormRules, readFileForm } from './file-form.ts'
import { openUpload } from './upload.ts'
import { validatorCompiler } from './validation.ts'

const bodyType = 'multipart/form-data'

/** To be spread into the options of each route of such a plugin; its schema's `body` is for the documentation alone. */
export const fileRoute = {
  config: { longUpload: true, bodyType },
  validatorCompiler: (part =>
    part.httpPart === 'body' ? () => true : validatorCompiler(part)) as typeof validatorCompiler,
} as const

/** Every route of this plugin takes a form with a file, and nothing else. */
export function takeFileForms(app: FastifyInstance): void {
  app.removeAllContentTypeParsers()
  // The form is read as it comes, so it is handed on unread.
  app.addContentTypeParser(bodyType, async (_: unknown, body: Readable) => body)
}

/**
 * Lends `work` what opens the form of a request, once it wants to read it. Whatever fails, the rest of the body is read before it is
 * told.
 */
export async function withFileForm<T>(
  request: FastifyRequest,
  reply: FastifyReply,
  rules: FileFormRules,
  work: (openForm: () => Promise<FileForm>) => Promise<T>,
): Promise<T> {
  const upload = openUpload(request.body instanceof Readable ? request.body : Readable.from([]))
  let form: FileForm | undefined
  try {
    return await work(async () => {
      form = await readFileForm(upload.source, request.headers, rules)
      return form
    })
  } catch (error) {
    await form?.close()
    const { mostBytes, longestMs } = rules
    if (!(await upload.drain({ mostBytes: 2 * mostBytes, longestMs }))) reply.raw.shouldKeepAlive = false
    throw error
  }
}
