/**
 * Reuses memory for large bodies. Fresh memory for each body would start the garbage collector, whose pauses delay other requests.
 * Memory that was not used for a while is released.
 */

/** Node.js cuts smaller buffers out of a shared block (`Buffer.poolSize`). */
const minUnpooledBytes = 4096
/** The minimum size of a body for which memory is kept and reused. For a smaller body, fresh memory costs less. */
const minKeptBytes = 256 * 1024
/**
 * The size of each buffer that is kept. A directory file may have 64 MiB. That is too much to keep for files that are
 * seldom sent.
 */
const maxKeptBytes = 16 * 1024 * 1024
const maxKept = 2
const keptMs = 5_000

const kept: Buffer<ArrayBuffer>[] = []
let forgetting: NodeJS.Timeout | undefined

/** Returns a buffer of at least this many bytes. Its content is arbitrary. */
export function takeMemory(bytes: number): Buffer<ArrayBuffer> {
  if (bytes < minUnpooledBytes) return Buffer.allocUnsafe(bytes)
  const isKept = bytes >= minKeptBytes && bytes <= maxKeptBytes
  const known = isKept ? kept.pop() : undefined
  // The buffer may be larger than needed. That wastes no memory, because the operating system provides a page of memory
  // only when the page is written.
  return known ?? Buffer.allocUnsafeSlow(isKept ? maxKeptBytes : bytes)
}

/** Takes back a buffer of `takeMemory`. Pass the buffer or any part of it, once nobody reads it any more. */
export function giveBackMemory({ buffer }: Buffer<ArrayBuffer>): void {
  if (buffer.byteLength !== maxKeptBytes || kept.length >= maxKept) return
  kept.push(Buffer.from(buffer))
  clearTimeout(forgetting)
  forgetting = setTimeout(() => kept.splice(0), keptMs).unref()
}

/** The minimum size of memory that is freed early. Smaller memory seldom makes the garbage collector start. */
const minFreedBytes = 16 * 1024

/** Frees the memory of a chunk that nobody reads any more, before the garbage collector would free it. */
export function freeMemory({ buffer, byteLength }: Buffer): void {
  const isShared = byteLength < buffer.byteLength
  if (byteLength >= minFreedBytes && !isShared && buffer instanceof ArrayBuffer) buffer.transfer(0)
}
