/** Gathers bytes in two buffers that take turns, one being filled while the other is written: so nothing is allocated on the way. */
import type { Writable } from 'node:stream'

export type Gathering = {
  /** Where to put the next bytes: behind the first `used` ones of a buffer that has room for so many more. */
  room(bytes: number): { target: Buffer; used: number }
  /** Tells how many bytes of the buffer are used by now. @returns false when nothing more is to come until `onRoom` */
  fill(used: number): boolean
  /** From now on it is written to `taker`. */
  begin(taker: Writable): void
  /** Nothing more comes. */
  finish(): void
  /** Nothing more is written. */
  stop(): void
}

/** So much is gathered before it is written, unless it takes too long: each write costs as much as copying this. */
const enoughBytes = 128 * 1024
const gatherMs = 5

/**
 * @param options.pieceBytes how much may come at once
 * @param options.stallMs how long the taker may take nothing
 * @param options.onRoom more may come
 * @param options.onWritten everything is written
 */
export function createGathering(options: {
  pieceBytes: number
  stallMs: number
  onRoom(): void
  onWritten(): void
  onStall(): void
  onFault(error: Error): void
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
      if (error) return options.onFault(error)
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
      // Whoever is to take it must come some time.
      if (!taker) stall ??= setTimeout(options.onStall, options.stallMs)
      proceed()
      return used < enoughBytes
    },
    begin(given) {
      clearTimeout(stall)
      taker = given
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
