import { chunksOf, type OpenFile } from './files.ts'

/** Progress of long work. It goes to stderr, and only to a terminal: stdout is the command's result. */
export type Progress = {
  /** @param stage what goes on, in a word or two */
  show(done: number, total: number, stage?: string): void
  end(): void
}

const nowhere: Progress = { show() {}, end() {} }

/** @param title what the work is called */
export async function showProgress(title: string): Promise<Progress> {
  if (!process.stderr.isTTY) return nowhere
  const { default: progress } = await import('cli-progress')
  const bar = new progress.SingleBar({
    format: `${title} {bar} {percentage}%  {duration_formatted}  {stage}`,
    barCompleteChar: '=',
    barIncompleteChar: '-',
    clearOnComplete: true,
    // It cuts its line to the terminal's width; else it would switch wrapping off, and a Ctrl-C leave it so.
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

/** An open file as it is sent, with how far it has got. */
export async function* sending(source: OpenFile, { show }: Progress): AsyncGenerator<Uint8Array> {
  const { size } = await source.file.stat()
  let sent = 0
  for await (const chunk of chunksOf(source, null)) {
    yield chunk
    sent += chunk.length
    // A pipe has no size, and so no progress.
    if (size > 0) show(Math.min(sent, size), size, sent < size ? '' : 'finishing')
  }
}
