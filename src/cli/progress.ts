/** Shows how far a long command has come. */
import { chunksOf, type OpenFile } from './files.ts'

/** Shows the progress of long work, on stderr and only on a terminal, because stdout is for the command's result. */
export type Progress = {
  /** @param stage a word or two about the present step */
  show(done: number, total: number, stage?: string): void
  end(): void
}

const nowhere: Progress = { show() {}, end() {} }

/** @param title the name of the work */
export async function showProgress(title: string): Promise<Progress> {
  if (!process.stderr.isTTY) return nowhere
  const { default: progress } = await import('cli-progress')
  const bar = new progress.SingleBar({
    format: `${title} {bar} {percentage}%  {duration_formatted}  {stage}`,
    barCompleteChar: '=',
    barIncompleteChar: '-',
    clearOnComplete: true,
    // Leaves the terminal's line wrapping on: the bar shortens its line to the terminal's width itself. If the bar
    // switched wrapping off, it would stay off after Ctrl-C.
    linewrap: true,
    stopOnComplete: false,
    stream: process.stderr,
  })
  let started = false
  return {
    show(done, total, stage = '') {
      if (!started) bar.start(total, done, { stage })
      started = true
      bar.setTotal(total)
      bar.update(done, { stage })
    },
    end() {
      if (started) bar.stop()
    },
  }
}

/** Yields an open file's bytes while they are sent, and shows the progress. */
export async function* sending(source: OpenFile, { show }: Progress): AsyncGenerator<Uint8Array> {
  const { size } = await source.file.stat()
  let sent = 0
  for await (const chunk of chunksOf(source, null)) {
    yield chunk
    sent += chunk.length
    // A pipe has no size, so it has no progress.
    if (size > 0) show(Math.min(sent, size), size, sent < size ? '' : 'finishing')
  }
}
