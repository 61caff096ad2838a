/** Runs work in a worker thread, if the work would block this thread for too long. */
import { parentPort, Worker } from 'node:worker_threads'

/**
 * Runs a file as a worker thread, which calls `giveResult` once.
 *
 * @param data the thread's `workerData`
 * @returns the result, when the thread has ended
 * @throws what the thread throws; Error when the thread ends without a result, with the code `ERR_WORKER_OUT_OF_MEMORY`
 *   when it needed more memory than it may have
 */
export async function resultOfThread<Result>(file: URL, data: object): Promise<Result> {
  const workerData = { ...data, file: file.href }
  const worker = new Worker(new URL('./worker-start.ts', import.meta.url), { workerData })
  try {
    return await new Promise<Result>((resolve, reject) => {
      worker
        .once('message', resolve)
        .once('messageerror', reject)
        .once('error', reject)
        .once('exit', code => reject(new Error(`A thread ended without a result, with the code ${code}`)))
    })
  } finally {
    await worker.terminate()
  }
}

/** Called inside a worker thread. Sends the result to the caller of `resultOfThread`. */
export function giveResult(result: unknown): void {
  parentPort?.postMessage(result)
}
