/**
 * The file of rejected lines. The command copies these lines from the operator's own file. The platform returns only
 * their numbers and the reasons, because it must not send secrets back.
 */
import { type FileHandle, stat } from 'node:fs/promises'
import { CommandError, usageError } from './failure.ts'
import { chunksOf, openPart, writeError } from './files.ts'
import { createLineCopier } from './line-copy.ts'

export type Reject = { lineNumber: number; column: string; reason: string }

export type Rejects = {
  /**
   * Copies a line and appends its number and the reason. Each call must use a higher line number than the call before.
   */
  add(reject: Reject): Promise<void>
  /** Moves the file to its final place. */
  keep(): Promise<void>
  /** Deletes the temporary file if it was not kept. */
  discard(): Promise<void>
}

const flushBytes = 64 * 1024

/**
 * Starts the file for `target` with mode 600, because it holds PINs and activation codes. The file gets the name
 * `target` only when it is complete. A path that can't be written is reported before anything is imported.
 *
 * @param source the open stock file
 * @throws CommandError when the file can't be written, or would replace the stock file itself
 */
export async function openRejects(target: string, source: { file: FileHandle; path: string }): Promise<Rejects> {
  const before = await source.file.stat()
  await refuseTarget(target, source.path, before)
  const part = await openPart(target)
  const { write, flush } = createWriter(part.file, target)
  const copyLine = createLineCopier(chunksOf(source, 0), write)
  const copy = async (lineNumber: number, ending: string) => {
    if (!(await copyLine(lineNumber))) throw changed(source.path)
    await write(Buffer.from(ending))
  }
  let headed: Promise<void> | undefined
  const copyHeader = () => {
    headed ??= copy(1, ',line,reason\n')
    return headed
  }

  return {
    async add({ lineNumber, column, reason }) {
      await copyHeader()
      await copy(lineNumber, `,${lineNumber},${quoted(`${column} ${reason}`)}\n`)
    },
    async keep() {
      await copyHeader()
      const { mtimeMs, size } = await source.file.stat()
      if (mtimeMs !== before.mtimeMs || size !== before.size) throw changed(source.path)
      await flush()
      await part.keep()
    },
    discard: () => part.discard(),
  }
}

async function refuseTarget(target: string, sourcePath: string, source: Awaited<ReturnType<typeof stat>>) {
  if (!source.isFile())
    throw usageError(`With --rejects, ${sourcePath} must be a plain file: it is read a second time.`)
  const present = await stat(target).catch(() => null)
  if (present && !present.isFile()) throw usageError(`--rejects must name a file; ${target} is something else.`)
  if (present?.ino === source.ino && present.dev === source.dev)
    throw usageError('--rejects must name another file than the one to import.')
}

/**
 * Returns functions that collect lines and write them in batches. `write` copies its input, because a reference to a
 * part of a chunk would keep the whole chunk in memory.
 */
function createWriter(file: FileHandle, target: string) {
  let parts: Buffer[] = []
  let length = 0
  const flush = async () => {
    const bytes = Buffer.concat(parts)
    parts = []
    length = 0
    await file.writeFile(bytes).catch(error => {
      throw writeError(target, error)
    })
  }
  const write = async (bytes: Uint8Array) => {
    parts.push(Buffer.from(bytes))
    length += bytes.length
    if (length >= flushBytes) await flush()
  }
  return { write, flush }
}

const changed = (path: string): CommandError =>
  new CommandError(`${path} was changed during the import, so its rejected lines can’t be shown.`)

/** A CSV value according to RFC 4180. */
const quoted = (text: string): string => (/[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text)
