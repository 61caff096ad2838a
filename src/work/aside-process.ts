/**
 * A process of low priority, for work that would otherwise slow down requests. A worker thread is not enough, because
 * its garbage collection runs in further threads. Those threads have the normal priority, and they took as much
 * processor time as the work itself.
 *
 * Jobs run one after the other, so that any number of jobs takes only one processor. The process is kept for the next
 * job. When there is no job for a while, the process ends and frees its memory.
 */
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { DomainError } from '../errors.ts'
import { lowerPriority } from './low-priority.ts'

const idleMs = 5_000
/** The longest time for one job. Even on a busy machine, reading a request body takes far less. */
const maxJobMs = 300_000
/** The size of the parts in which input is sent. Sending one part takes less than a millisecond. */
const partBytes = 64 * 1024

export type AsideProcess = {
  /**
   * Runs one job and yields its result in pieces, as the caller takes them. If the caller stops early, the process is
   * ended, and the next job starts a new one.
   *
   * @param job must be serialisable as JSON
   * @param bytes the input of the job; do not change it before the job is done
   * @throws DomainError 'unavailable' when the process ends before the job does, or takes longer than 5 minutes; Error
   *   with the stack of an error in the job
   */
  pieces<Piece>(job: object, bytes: Uint8Array): AsyncGenerator<Piece, void, undefined>
}

type Answer<Piece> = { piece: Piece; isLast: boolean } | { failed: string }
const next = 'next'

/** @param file the code of the process, which calls `takeJobs` */
export function createAsideProcess(file: URL): AsideProcess {
  let child: ChildProcess | null = null
  const end = () => {
    child?.kill('SIGKILL')
    child = null
  }
  const start = (): ChildProcess => {
    const started = startProcess(fileURLToPath(file))
    const forget = () => {
      if (child === started) child = null
    }
    // The event `error` means that the process could not be started, or that a message could not be sent to it.
    started.on('error', forget).once('exit', forget)
    return started
  }
  const takeTurn = createTurns(end)
  async function* run<Piece>(running: ChildProcess, job: object, bytes: Uint8Array) {
    let isDone = false
    const conversation = converse<Piece>(running)
    const limit = setTimeout(() => running.kill('SIGKILL'), maxJobMs)
    try {
      setRef(running, true)
      await conversation.give(job, bytes)
      for (;;) {
        const { piece, isLast } = await conversation.take()
        isDone = isLast
        yield piece
        if (isLast) return
        running.send(next, () => {})
      }
    } finally {
      clearTimeout(limit)
      conversation.close()
      setRef(running, false)
      if (!isDone && child === running) end()
    }
  }
  return {
    async *pieces<Piece>(job: object, bytes: Uint8Array) {
      const giveBack = await takeTurn()
      try {
        child ??= start()
        yield* run<Piece>(child, job, bytes)
      } finally {
        giveBack()
      }
    },
  }
}

/**
 * Makes a queue of callers that run one after the other.
 *
 * @param onIdle called when no caller has run for a while
 * @returns a function with which a caller waits for its turn. The result is a function that ends the turn
 */
function createTurns(onIdle: () => void): () => Promise<() => void> {
  let last: Promise<void> = Promise.resolve()
  let idle: NodeJS.Timeout | undefined
  return async () => {
    const mine = Promise.withResolvers<void>()
    const before = last
    last = mine.promise
    await before
    clearTimeout(idle)
    return () => {
      idle = setTimeout(onIdle, idleMs).unref()
      mine.resolve()
    }
  }
}

function startProcess(path: string): ChildProcess {
  // With this option, garbage collection uses no extra threads.
  const child = spawn(process.execPath, ['--single-threaded-gc', path], {
    serialization: 'advanced',
    stdio: ['pipe', 'ignore', 'inherit', 'ipc'],
    // The process needs none of our settings, which contain secrets.
    env: {},
  })
  if (child.pid !== undefined) lowerPriority(child.pid)
  // Ignore errors of this stream, because the event `exit` reports the end of the process.
  child.stdin?.on('error', () => {})
  return child
}

type Handle = { ref(): void; unref(): void } | null | undefined

/**
 * While the child process works, our own process must not end. While the child process is idle, our own process may
 * end.
 */
function setRef(child: ChildProcess, isBusy: boolean): void {
  for (const handle of [child, child.channel, child.stdin] as Handle[])
    if (isBusy) handle?.ref()
    else handle?.unref()
}

/** Sends a job to a process and receives its result in pieces, until the process ends. */
function converse<Piece>(child: ChildProcess) {
  const gone = Promise.withResolvers<never>()
  gone.promise.catch(() => {})
  const onGone = () =>
    gone.reject(new DomainError('unavailable', 'The body could not be read: try again', { retryAfterSeconds: 1 }))
  child.once('exit', onGone).once('error', onGone)
  if (child.exitCode !== null || child.signalCode !== null) onGone()
  const write = (part: Uint8Array): Promise<void> =>
    Promise.race([
      gone.promise,
      // If writing fails, the process has ended, and `gone` rejects. So this promise may stay pending.
      new Promise<void>(resolve => child.stdin?.write(part, error => error || resolve())),
    ])
  return {
    async give(job: object, bytes: Uint8Array): Promise<void> {
      const jobText = Buffer.from(JSON.stringify(job))
      const lengths = Buffer.alloc(headBytes)
      lengths.writeUInt32LE(jobText.length, 0)
      lengths.writeUInt32LE(bytes.length, headBytes / 2)
      await write(Buffer.concat([lengths, jobText]))
      for (let at = 0; at < bytes.length; at += partBytes) await write(bytes.subarray(at, at + partBytes))
    },
    async take(): Promise<{ piece: Piece; isLast: boolean }> {
      const [answer] = (await Promise.race([once(child, 'message'), gone.promise])) as [Answer<Piece>]
      if ('failed' in answer) throw new Error(answer.failed)
      return answer
    },
    close: () => void child.off('exit', onGone).off('error', onGone),
  }
}

/** The bytes before each job: the lengths of its JSON and of its input. */
const headBytes = 8

/**
 * Called inside the process. Runs each job when it arrives and sends its result in pieces, at least one. Each piece
 * is sent after the caller has taken the previous one.
 */
export async function takeJobs<Job>(work: (job: Job, bytes: Uint8Array) => Promise<readonly unknown[]>): Promise<void> {
  // This process ends with its parent, even when the parent was killed. It ignores signals that a service manager sends to all
  // processes.
  process.once('disconnect', () => process.exit())
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => {})
  const read = createReader(process.stdin)
  // Ignore errors of sending: when the parent has ended, `disconnect` follows.
  const send = (answer: Answer<unknown>) => void process.send?.(answer, () => {})
  for (;;) {
    const head = await read(headBytes)
    const job = head && (await read(head.readUInt32LE(0)))
    const bytes = head && (await read(head.readUInt32LE(headBytes / 2)))
    if (!job || !bytes) process.exit()
    const pieces = await work(JSON.parse(job.toString()) as Job, bytes).catch((error: Error) => error)
    if (pieces instanceof Error) send({ failed: String(pieces.stack) })
    else
      for (const [index, piece] of pieces.entries()) {
        const isLast = index === pieces.length - 1
        send({ piece, isLast })
        if (!isLast) await once(process, 'message')
      }
  }
}

/** @returns a function that reads `length` bytes, and returns null when the source ends earlier */
function createReader(source: AsyncIterable<Buffer>): (length: number) => Promise<Buffer | null> {
  const chunks = source[Symbol.asyncIterator]()
  let rest: Buffer = Buffer.alloc(0)
  return async length => {
    const wanted = Buffer.allocUnsafe(length)
    for (let at = 0; at < length; ) {
      if (rest.length === 0) {
        const { value, done } = await chunks.next()
        if (done) return null
        rest = value
      }
      const copied = rest.copy(wanted, at)
      at += copied
      rest = rest.subarray(copied)
    }
    return wanted
  }
}
