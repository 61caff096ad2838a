/** Where the log goes when nobody looks on: stdout, which may be a file on a full disk, or a pipe that nobody reads. */
import { fstatSync } from 'node:fs'
import { type DestinationStream, pino } from 'pino'

/** So many bytes wait for room; lines beyond them are dropped. */
const maxWaiting = 1024 * 1024

/** A log that finds no room ends nothing and holds nothing up, not even the end of the process; with room again it is written on. */
export function openLogOutput(): DestinationStream {
  const output = fstatSync(1)
  return output.isFIFO() || output.isSocket() ? toPipe() : toFile()
}

/**
 * Through Node's own stream, which never waits for a reader. A write to a full pipe on another thread would hold that thread for
 * ever, and with it the end of the process.
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
      // What is logged in one turn of the event loop is written at once.
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
  // Both would wait for room without an end.
  output.flush = done => {
    if (!isFull) flush.call(output, done)
  }
  output.flushSync = () => {
    if (!isFull) flushSync.call(output)
  }
  return output
}
