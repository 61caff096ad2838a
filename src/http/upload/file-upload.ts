/** Runs uploads of forms with one file. Each uses a database connection and a transaction, so their number is limited. */
import type { Readable } from 'node:stream'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { type ConcurrencyLimit, createConcurrencyLimit } from '../../work/concurrency-limit.ts'
import { disconnectSignal } from '../answer/disconnect-signal.ts'
import { type FileForm, type FileFormRules, readFileForm } from './file-form.ts'
import { withUpload } from './upload-route.ts'

/** The concurrency limit of uploads in one process. */
export const createUploadLimit = (atOnce: number): ConcurrencyLimit =>
  createConcurrencyLimit(
    { atOnce, perPartner: 2, waiting: 100, waitMs: 60_000 },
    'Other uploads are still running: try again in a moment',
    'uploads',
  )

/**
 * Runs an upload. It waits until the first bytes have arrived and the concurrency limit lets the upload run, and then
 * calls `work`.
 *
 * @param work called with a function that opens the form, and a signal that aborts when the client disconnects before
 *   the answer is sent
 */
export async function withFileForm<T>(
  request: FastifyRequest,
  reply: FastifyReply,
  { places, partnerId, ...rules }: FileFormRules & { places: ConcurrencyLimit; partnerId: string },
  work: (openForm: () => Promise<FileForm>, signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const { maxBytes, maxMs } = rules
  const read = async (source: Readable, begun: () => Promise<void>) => {
    let form: FileForm | undefined
    const signal = disconnectSignal(reply)
    await begun()
    const end = await places.take(partnerId, signal)
    try {
      return await work(async () => {
        form = await readFileForm(source, request.headers, rules)
        return form
      }, signal)
    } catch (error) {
      await form?.close()
      throw error
    } finally {
      end()
    }
  }
  return withUpload(request, reply, read, { maxBytes: 2 * maxBytes, maxMs })
}
