/** A request whose body is a form with one file, as operations open it. */
import type { Readable } from 'node:stream'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { type FileForm, type FileFormRules, readFileForm } from './file-form.ts'
import { withUpload } from './upload-route.ts'

/** Lends `work` what opens the form of a request, once it wants to read it. */
export async function withFileForm<T>(
  request: FastifyRequest,
  reply: FastifyReply,
  rules: FileFormRules,
  work: (openForm: () => Promise<FileForm>) => Promise<T>,
): Promise<T> {
  const { mostBytes, longestMs } = rules
  const read = async (source: Readable) => {
    let form: FileForm | undefined
    try {
      return await work(async () => {
        form = await readFileForm(source, request.headers, rules)
        return form
      })
    } catch (error) {
      await form?.close()
      throw error
    }
  }
  return withUpload(request, reply, read, { mostBytes: 2 * mostBytes, longestMs })
}
