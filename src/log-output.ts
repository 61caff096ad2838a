/** Where the log goes when nobody looks on: stdout, which may be a file on a full disk. */
import { type DestinationStream, pino } from 'pino'

/** So many bytes wait for room; lines beyond them are dropped. */
const mostWaiting = 1024 * 1024

/** A log that finds no room ends nothing and holds nothing up, not even the end of the process; with room again it is written on. */
export function openLogOutput(): DestinationStream {
  const output = pino.destination({ dest: process.stdout.fd ?? 1, sync: false, maxLength: mostWaiting })
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
