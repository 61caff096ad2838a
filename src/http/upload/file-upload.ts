/** A request whose body is a form with one file, as operations open it. Each keeps a connection to the database and a transaction. */
import type { Readable } from 'node:stream'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { createTurns, type Turns } from '../../work/turns.ts'
import { leaving } from '../answer/leaving.ts'
import { type FileForm, type FileFormRules, readFileForm } from './file-form.ts'
import { withUpload } from './upload-route.ts'

/** The turns of uploads in one process, of which so many run at once. */
export const createUploadTurns = (atOnce: number): Turns =>
  createTurns(
    { atOnce, perPartner: 2, waiting: 100, waitMs: 60_000 },
    'Other uploads are still running: try again in a moment',
    'uploads',
  )

/**
 * Lends `work`, when the upload has begun to come and it is this partner's turn, what opens the form of a request.
 *
 * @param work its `left` aborts when the client closes the connection before it has its answer
 */
export async function withFileForm<T>(
  request: FastifyRequest,
  reply: FastifyReply,
  { turns, partnerId, ...rules }: FileFormRules & { turns: Turns; partnerId: string },
  work: (openForm: () => Promise<FileForm>, left: AbortSignal) => Promise<T>,
): Promise<T> {
  const { mostBytes, longestMs } = rules
  const read = async (source: Readable, begun: () => Promise<void>) => {
    let form: FileForm | undefined
    const left = leaving(reply)
    await begun()
    const end = await turns.take(partnerId, left)
    try {
      return await work(async () => {
        form = await readFileForm(source, request.headers, rules)
        return form
      }, left)
    } catch (error) {
      await form?.close()
      throw error
    } finally {
      end()
    }
  }
  return withUpload(request, reply, read, { mostBytes: 2 * mostBytes, longestMs })
}
