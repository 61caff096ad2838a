/** Reads and writes the operator's files. Error messages name the file. */
import { randomBytes } from 'node:crypto'
import { rmSync } from 'node:fs'
import { type FileHandle, open, rename, rm, stat } from 'node:fs/promises'
import { StringDecoder } from 'node:string_decoder'
import { CommandError } from './failure.ts'

const chunkBytes = 256 * 1024
/**
 * The number of bytes in one read of `linesOf`. It is small enough that the bytes stay in the processor's cache while
 * their lines are processed.
 */
const linesBytes = 64 * 1024
const maxLineLength = 16 * 1024 * 1024

export type OpenFile = { path: string; file: FileHandle }

/**
 * Opens a file for reading; the caller must close it.
 *
 * @throws CommandError when the file does not exist or can't be read
 */
export async function openFile(path: string): Promise<FileHandle> {
  let file: FileHandle | undefined
  try {
    file = await open(path, 'r')
    if ((await file.stat()).isDirectory()) throw Object.assign(new Error(), { code: 'EISDIR' })
    return file
  } catch (error) {
    await file?.close()
    throw readError(path, error)
  }
}

/**
 * Reads a whole text file.
 *
 * @param mayBreakOff true: replaces bytes that are not UTF-8 by U+FFFD, because the text may end inside a character
 * @throws CommandError when it can't be read, has more than `maxBytes`, or is not UTF-8
 */
export async function readText(path: string, maxBytes: number, mayBreakOff = false): Promise<string> {
  const file = await openFile(path)
  try {
    const chunks: Uint8Array[] = []
    let length = 0
    for await (const chunk of chunksOf({ path, file }, null)) {
      chunks.push(chunk)
      length += chunk.length
      if (length > maxBytes) throw new CommandError(`${path} has more than ${maxBytes / 1024 / 1024} MiB.`)
    }
    const bytes = Buffer.concat(chunks)
    return mayBreakOff ? new TextDecoder().decode(bytes) : decode(path, bytes)
  } finally {
    await file.close()
  }
}

/**
 * Reads an open file in chunks.
 *
 * @param position where to start; null: the current position, which pipes need
 * @param room a buffer that all chunks share, so each chunk is valid only until the next one is read; undefined: each
 *   chunk has its own buffer
 * @throws CommandError when the file can't be read to its end
 */
export async function* chunksOf(
  { path, file }: OpenFile,
  position: number | null,
  room?: Buffer,
): AsyncGenerator<Buffer, void, undefined> {
  for (let at = position; ; ) {
    const into = room ?? Buffer.allocUnsafe(chunkBytes)
    const { bytesRead, buffer } = await file.read(into, 0, into.length, at).catch(error => {
      throw readError(path, error)
    })
    if (bytesRead === 0) return
    yield buffer.subarray(0, bytesRead)
    if (at !== null) at += bytesRead
  }
}

/**
 * Reads the lines of a text file, many at once. Only a line feed ends a line, because the text of a line may contain
 * other line separators. A line of more than 16 Mi characters is returned in parts.
 *
 * @throws CommandError when the file can't be read to its end
 */
export async function* linesOf(path: string): AsyncGenerator<string[], void, undefined> {
  const file = await openFile(path)
  try {
    const decoder = new StringDecoder('utf8')
    let rest = ''
    for await (const chunk of chunksOf({ path, file }, null, Buffer.allocUnsafe(linesBytes))) {
      const lines = (rest + decoder.write(chunk)).split('\n')
      rest = lines.at(-1) ?? ''
      yield rest.length < maxLineLength ? lines.slice(0, -1) : lines
      if (rest.length >= maxLineLength) rest = ''
    }
    yield [rest + decoder.end()]
  } finally {
    await file.close()
  }
}

/** Makes the error for a file that can't be read. */
const readError = (path: string, error: unknown): CommandError =>
  new CommandError(`${path} can’t be read: ${reasonOf(error)}.`)

/** Makes the error for a file that can't be written. */
export const writeError = (path: string, error: unknown): CommandError =>
  new CommandError(`${path} can’t be written: ${reasonOf(error)}.`)

/** Makes the error for a file that would be overwritten. */
export const existsError = (path: string): CommandError => new CommandError(`${path} is there already.`)

/** Refuses to replace a file. A pipe or a device can be written. @throws CommandError when the file exists */
export async function refuseExisting(path: string): Promise<void> {
  if ((await stat(path).catch(() => null))?.isFile()) throw existsError(path)
}

/** A new file in the folder of the file that it will replace. */
export type PartFile = {
  file: FileHandle
  /** Closes the file and gives it its final name. */
  keep(): Promise<void>
  /** Closes and deletes the file unless it was kept. */
  discard(): Promise<void>
}

/**
 * Creates a file beside `path` that only its owner may read. Its name is random and must not exist yet, so it is never
 * a link or a file of another user. If a signal stops the command, the file is deleted, because no other program would
 * delete it.
 *
 * @throws CommandError when the file can't be written
 */
export async function openPart(path: string): Promise<PartFile> {
  const partPath = `${path}.${randomBytes(6).toString('hex')}.part`
  const refuse = (error: unknown) => {
    throw writeError(path, error)
  }
  const file = await open(partPath, 'wx', 0o600).catch(refuse)
  const forget = removeWhenStopped(partPath)
  return {
    file,
    async keep() {
      await file.close()
      await rename(partPath, path).catch(refuse)
    },
    async discard() {
      await file.close()
      await rm(partPath, { force: true })
      forget()
    },
  }
}

/** Deletes a file when a signal stops this process. @returns a function that switches this off */
function removeWhenStopped(path: string): () => void {
  const signals = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const
  const onSignal = (signal: NodeJS.Signals) => {
    forget()
    rmSync(path, { force: true })
    process.kill(process.pid, signal)
  }
  const forget = () => {
    for (const signal of signals) process.off(signal, onSignal)
  }
  for (const signal of signals) process.once(signal, onSignal)
  return forget
}

/**
 * Writes a file that only its owner may read. The file gets its final name only when it is complete. So an error leaves
 * no incomplete file, and an existing file stays unchanged. A pipe or a device is written directly.
 *
 * @param pieces what to write. If reading it fails, that error is thrown unchanged
 * @throws CommandError when the file can't be written
 */
export async function writeWhole(path: string, pieces: AsyncIterable<string | Uint8Array>): Promise<void> {
  const refuse = (error: unknown) => {
    throw writeError(path, error)
  }
  // Ignore an error here: if the path is wrong, writing the file fails too and reports why.
  const found = await stat(path).catch(() => null)
  if (found !== null && !found.isFile()) {
    await using file = await open(path, 'w').catch(refuse)
    for await (const piece of pieces) await file.writeFile(piece).catch(refuse)
    return
  }
  const part = await openPart(path)
  try {
    for await (const piece of pieces) await part.file.writeFile(piece).catch(refuse)
    await part.file.sync().catch(refuse)
    await part.keep()
  } finally {
    await part.discard()
  }
}

const reasons: Record<string, string> = {
  ENOENT: 'there is no such file or folder',
  ENOTDIR: 'a part of its path is no folder',
  EACCES: 'this user may not',
  EPERM: 'this user may not',
  EROFS: 'the disk is read-only',
  EISDIR: 'it is a folder',
  ENOSPC: 'the disk is full',
}

function reasonOf(error: unknown): string {
  const { code = '', message } = error as NodeJS.ErrnoException
  return reasons[code] ?? message
}

function decode(path: string, bytes: Buffer): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes)
  } catch {
    throw new CommandError(`${path} must be UTF-8 text; line ${foreignLine(bytes)} is not.`)
  }
}

/**
 * Returns the number of the first line that is not UTF-8. Each line can be decoded alone, because a line feed is never
 * a part of a longer character.
 */
function foreignLine(bytes: Buffer): number {
  const decoder = new TextDecoder('utf-8', { fatal: true })
  let start = 0
  for (let line = 1; ; line++) {
    const end = bytes.indexOf(10, start)
    try {
      decoder.decode(bytes.subarray(start, end < 0 ? bytes.length : end))
    } catch {
      return line
    }
    if (end < 0) return line
    start = end + 1
  }
}
