/**
 * Work that would keep this thread busy for too long is done in a thread of its own. Its result comes in pieces: taking in a large one
 * at once would keep this thread busy all the same.
 */
import { once } from 'node:events'
import { parentPort, type Transferable, Worker } from 'node:worker_threads'

type Message<Piece> = { piece: Piece; isLast: boolean }

/**
 * Runs a file as a thread and gives its pieces as they are taken. The thread ends with the last piece, or when no more are taken.
 *
 * @param data what it finds as `workerData`
 * @param handedOver memory of `data` that it takes over instead of a copy
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
 * Within a thread: gives the pieces, at least one, each when the one before was taken.
 *
 * @param handedOver memory of the first piece that is handed over instead of a copy
 */
export async function givePieces(pieces: readonly unknown[], handedOver: readonly Transferable[] = []): Promise<void> {
  for (const [index, piece] of pieces.entries()) {
    const isLast = index === pieces.length - 1
    parentPort?.postMessage({ piece, isLast } satisfies Message<unknown>, index === 0 ? handedOver : [])
    if (!isLast && parentPort) await once(parentPort, 'message')
  }
}
