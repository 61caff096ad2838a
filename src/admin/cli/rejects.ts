/**
 * The file of rejected lines. They are copied from the operator's own file: the platform names only line numbers and reasons, so
 * that no secret travels back.
 */
import { unlinkSync } from 'node:fs'
import { type FileHandle, open, rename, rm, stat } from 'node:fs/promises'
import { CommandError, usageFault } from './failure.ts'
import { writeFault } from './files.ts'

export type Reject = { lineNumber: number; column: string; reason: string }

export type Rejects = {
  /** Copies a line, with its number and reason behind it. The numbers of successive calls rise. */
  add(reject: Reject): Promise<void>
  /** Puts the file in its place. */
  keep(): Promise<void>
  /** Leaves nothing behind, unless it was kept. */
  discard(): Promise<void>
}

/**
 * Starts the file at `target` (mode 600: it holds PINs and activation codes). It appears whole or not at all, and a place that
 * can't be written to shows before anything is imported.
 *
 * @param source the stock file, open
 * @throws CommandError when it can't be written, or would replace the stock file itself
 */
export async function openRejects(target: string, source: { file: FileHandle; path: string }): Promise<Rejects> {
  const before = await source.file.stat()
  if (!before.isFile()) throw usageFault(`With --rejects, ${source.path} must be a file: it is read a second time.`)
  const present = await stat(target).catch(() => null)
  if (present && !present.isFile()) throw usageFault(`--rejects must name a file, and ${target} is something else.`)
  if (present?.ino === before.ino && present.dev === before.dev)
    throw usageFault('--rejects must name another file than the one that is imported.')

  const partPath = `${target}.${process.pid}.part`
  const writing = async <T>(work: Promise<T>): Promise<T> =>
    work.catch((error: unknown) => {
      throw writeFault(target, error)
    })
  const part = await writing(open(partPath, 'wx', 0o600))
  const dropWhenStopped = removeWhenStopped(partPath)
  const output = createOutput(part)
  let copyLine: ReturnType<typeof createLineCopier> | undefined
  const copy = async (lineNumber: number, ending: string) => {
    copyLine ??= createLineCopier(source.file, output.add)
    if (!(await copyLine(lineNumber)))
      throw new CommandError(`${source.path} was changed while it was imported, so its rejected lines can’t be told.`)
    output.add(Buffer.from(ending))
    await writing(output.flush(flushBytes))
  }
  let open_ = true
  const close = async () => {
    if (!open_) return
    open_ = false
    dropWhenStopped()
    await part.close()
  }
  await copy(1, ',line,reason\n')
  return {
    add: ({ lineNumber, column, reason }) => copy(lineNumber, `,${lineNumber},${quoted(`${column} ${reason}`)}\n`),
    async keep() {
      const { mtimeMs, size } = await source.file.stat()
      await writing(output.flush(0))
      await close()
      await writing(rename(partPath, target))
    },
    async discard() {
      await close()
      await rm(partPath, { force: true })
    },
  }
}
