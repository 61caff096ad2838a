/**
 * Readers of long answers, a process of its own: `node bench/reader.ts '<Reading as JSON>'`; it prints a Read for each
 * as JSON. It uses raw sockets and discards the data, because on two cores a client with more work would slow down the
 * platform.
 */
import { connect } from 'node:net'
import process from 'node:process'

export type Reading = {
  port: number
  path: string
  token: string
  atOnce: number
  headers?: Record<string, string>
  /** How long each reader repeats its read. Without this value, each reader reads once. */
  seconds?: number
}
export type Read = { firstByteMs: number; totalMs: number; bytes: number }

const buffer = Buffer.allocUnsafe(1024 * 1024)
const end = '\r\n0\r\n\r\n'

/**
 * @returns null when the read is refused with 429, because the partner's other reads take too long
 * @throws Error for an unexpected answer, and for one that breaks off before the end of its chunked body
 */
function read({ port, path, token, headers = {} }: Reading): Promise<Read | null> {
  const lines = Object.entries({ Host: '127.0.0.1', Authorization: `Bearer ${token}`, ...headers })
  const request = `GET ${path} HTTP/1.1\r\n${lines.map(([name, value]) => `${name}: ${value}\r\n`).join('')}\r\n`
  return new Promise((resolve, reject) => {
    const start = performance.now()
    let head = ''
    let firstByteMs = 0
    let bytes = 0
    let last = ''
    const onData = (size: number): boolean => {
      if (firstByteMs === 0) {
        head += buffer.toString('latin1', 0, size)
        const headEnd = head.indexOf('\r\n\r\n')
        if (headEnd !== -1 && head.length > headEnd + 4) firstByteMs = performance.now() - start
      }
      bytes += size
      last = (last + buffer.toString('latin1', Math.max(0, size - end.length), size)).slice(-end.length)
      return true
    }
    const socket = connect({ port, host: '127.0.0.1', onread: { buffer, callback: onData } })
    socket.once('connect', () => socket.write(request))
    socket.once('error', reject)
    socket.once('close', () => {
      if (head.startsWith('HTTP/1.1 429 ')) resolve(null)
      else if (!head.startsWith('HTTP/1.1 200 '))
        reject(new Error(`The list was answered with ${head.slice(0, 1_000)}`))
      else if (last !== end) reject(new Error(`The list broke off after ${bytes} bytes`))
      else resolve({ firstByteMs, totalMs: performance.now() - start, bytes })
    })
  })
}

const reading = JSON.parse(process.argv[2] ?? '') as Reading
const endAt = performance.now() + (reading.seconds ?? 0) * 1000

/** Reads until the time is over. A reader whose read was refused asks again, as partners do. */
async function readOn(): Promise<Read[]> {
  const reads: Read[] = []
  do {
    const one = await read(reading)
    if (one) reads.push(one)
  } while (reads.length === 0 || performance.now() < endAt)
  return reads
}

const reads = await Promise.all(Array.from({ length: reading.atOnce }, readOn))
process.stdout.write(JSON.stringify(reads.flat()))
