/**
 * Work that would keep this thread busy for too long is done in a thread of its own. Its result comes in pieces: taking in a large one
 * at once would keep this thread busy all the same.
 */
import { once } from 'node:events'
import { parentPort, Worker } from 'node:worker_threads'

type Message<Piece> = { piece: Piece; isLast: boolean }

/**
 * Runs a file as a thread and gives its pieces as they are taken. The thread ends with the last piece, or when no more are taken.
 *
 * @param data what it finds as `workerData`
 * @throws what the thread throws
 */
export async function* piecesOfThread<Piece>(file: URL, data: object): AsyncGenerator<Piece, void, undefined> {
  const worker = new Worker(file, { workerData: data })
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

/** Within a thread: gives the pieces, at least one, each when the one before was taken. */
export async function givePieces(pieces: readonly unknown[]): Promise<void> {
  for (const [index, piece] of pieces.entries()) {
    const isLast = index === pieces.length - 1
    parentPort?.postMessage({ piece, isLast } satisfies Message<unknown>)
    if (!isLast && parentPort) await once(parentPort, 'message')
  }
}
