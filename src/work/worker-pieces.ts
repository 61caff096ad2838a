/**
 * Runs work in a worker thread, if the work would block this thread for too long. The result comes back in pieces,
 * because receiving a large result at once would block this thread as well.
 */
import { once } from 'node:events'
import { parentPort, type Transferable, Worker } from 'node:worker_threads'

type Message<Piece> = { piece: Piece; isLast: boolean }

/**
 * Runs a file as a worker thread and yields its result in pieces, as the caller takes them. The thread ends with the
 * last piece, or when the caller stops.
 *
 * @param data the thread's `workerData`
 * @param handedOver memory of `data` that is transferred instead of copied
 * @throws what the thread throws
 */
export async function* piecesOfThread<Piece>(
  file: URL,
  data: object,
  handedOver: readonly Transferable[] = [],
): AsyncGenerator<Piece, void, undefined> {
  const workerData = { ...data, file: file.href }
  const worker = new Worker(new URL('./worker-start.ts', import.meta.url), {
    workerData,
    transferList: [...handedOver],
  })
  try {
    for (;;) {
      const [{ piece, isLast }] = (await once(worker, 'message')) as [Message<Piece>]
      yield piece
      if (isLast) return
      worker.postMessage('next')
    }
  } finally {
    await worker.terminate()
  }
}

/**
 * Called inside a worker thread. Sends the pieces, at least one. Each piece is sent after the caller has taken the
 * previous one.
 *
 * @param handedOver memory of the first piece that is transferred instead of copied
 */
export async function givePieces(pieces: readonly unknown[], handedOver: readonly Transferable[] = []): Promise<void> {
  for (const [index, piece] of pieces.entries()) {
    const isLast = index === pieces.length - 1
    parentPort?.postMessage({ piece, isLast } satisfies Message<unknown>, index === 0 ? handedOver : [])
    if (!isLast && parentPort) await once(parentPort, 'message')
  }
}
