/** Writes the log to stdout, which may be a file on a full disk or a pipe that nobody reads. */
import { fstatSync } from 'node:fs'
import { type DestinationStream, pino } from 'pino'

/** The maximum number of bytes that wait to be written. Further lines are dropped. */
const maxWaiting = 1024 * 1024

/**
 * Opens the log's output. If the log cannot be written, the process neither fails nor waits, not even at its end.
 * Writing resumes when there is space again.
 */
export function openLogOutput(): DestinationStream {
  const output = fstatSync(1)
  return output.isFIFO() || output.isSocket() ? toPipe() : toFile()
}

/**
 * Uses Node's own stream, which never waits for a reader. With the stream of pino, a thread would wait forever on a
 * full pipe, and the process could not end.
 */
function toPipe(): DestinationStream & { flushSync(): void } {
  let waiting = ''
  const flushSync = () => {
    if (waiting !== '') process.stdout.write(waiting)
    waiting = ''
  }
  return {
    write(line) {
      if (process.stdout.writableLength + waiting.length > maxWaiting) return
      // Lines of one turn of the event loop are written together.
      if (waiting === '') setImmediate(flushSync)
      waiting += line
    },
    // Called after a fatal line, when the process ends.
    flushSync,
  }
}

function toFile(): DestinationStream {
  const output = pino.destination({ dest: process.stdout.fd ?? 1, sync: false, maxLength: maxWaiting })
  const { flush, flushSync } = output
  let isFull = false
  output.on('error', () => {
    isFull = true
  })
  output.on('write', () => {
    isFull = false
  })
  // When the disk is full, `flush` and `flushSync` of this stream would wait for space forever, so they are skipped.
  output.flush = done => {
    if (!isFull) flush.call(output, done)
  }
  output.flushSync = () => {
    if (!isFull) flushSync.call(output)
  }
  return output
}
