/** Gathers bytes in two buffers: one is filled while the other is written, so that nothing is allocated for each piece. */
import type { Writable } from 'node:stream'

export type Gathering = {
  /**
   * Where to put the next bytes: in the buffer `target`, after its first `used` bytes. There is room for at least
   * `bytes`.
   */
  room(bytes: number): { target: Buffer; used: number }
  /** Call this after filling the buffer up to `used` bytes. @returns false when the source must pause until `onRoom` */
  fill(used: number): boolean
  /** Starts writing to `taker`. */
  begin(taker: Writable): void
  /** Says that no more bytes come. */
  finish(): void
  /** Stops writing. */
  stop(): void
}

/**
 * How many bytes are gathered before a write, because each write takes as long as copying this many bytes. Fewer bytes
 * are written at the beginning, at the end, and after `gatherMs`.
 */
const enoughBytes = 128 * 1024
const gatherMs = 5

/**
 * @param options.pieceBytes the maximum number of bytes that arrive at once
 * @param options.stallMs how long a write may take before `onStall` is called
 * @param options.onRoom called when more bytes may come
 * @param options.onWritten called when everything is written
 */
export function createGathering(options: {
  pieceBytes: number
  stallMs: number
  onRoom(): void
  onWritten(): void
  onStall(): void
  onError(error: Error): void
}): Gathering {
  const create = () => Buffer.allocUnsafeSlow(enoughBytes + options.pieceBytes)
  let filling = create()
  let writing = create()
  let used = 0
  let taker: Writable | null = null
  let isFirst = true
  let isWriting = false
  let isFinished = false
  let isStopped = false
  let gather: NodeJS.Timeout | undefined
  let stall: NodeJS.Timeout | undefined

  const write = () => {
    clearTimeout(gather)
    gather = undefined
    const bytes = filling.subarray(0, used)
    ;[filling, writing] = [writing, filling]
    used = 0
    isFirst = false
    isWriting = true
    stall = setTimeout(options.onStall, options.stallMs)
    taker?.write(bytes, error => {
      clearTimeout(stall)
      isWriting = false
      if (isStopped) return
      if (error) return options.onError(error)
      proceed()
      options.onRoom()
    })
  }
  const proceed = () => {
    if (isStopped || isWriting || !taker) return
    if (used === 0) {
      if (isFinished) options.onWritten()
    } else if (isFirst || isFinished || used >= enoughBytes) write()
    else gather ??= setTimeout(write, gatherMs)
  }

  return {
    room(bytes) {
      if (filling.length - used < bytes) filling = Buffer.concat([filling.subarray(0, used)], used + bytes)
      return { target: filling, used }
    },
    fill(now) {
      if (isStopped) return true
      used = now
      // Nothing is written before `begin` is called. `stallMs` also limits the wait for this call.
      if (!taker) stall ??= setTimeout(options.onStall, options.stallMs)
      proceed()
      return used < enoughBytes
    },
    begin(writable) {
      clearTimeout(stall)
      taker = writable
      proceed()
    },
    finish() {
      isFinished = true
      proceed()
    },
    stop() {
      isStopped = true
      clearTimeout(gather)
      clearTimeout(stall)
    },
  }
}
