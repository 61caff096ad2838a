import { once } from 'node:events'
import { connect, type Socket } from 'node:net'

export type RawAnswer = { status: number; headers: Record<string, string>; text: string; body: any }

/** A connection on which a test writes any bytes. */
export async function openRaw(url: string): Promise<Socket> {
  const { hostname, port } = new URL(url)
  const socket = connect(Number(port), hostname)
  socket.on('error', () => {})
  await once(socket, 'connect')
  return socket
}

/**
 * Reads one answer from a connection, up to its Content-Length, its last chunk or the end of the connection; interim
 * answers are skipped. The text of a chunked answer contains the sizes of its chunks.
 *
 * @param options.head true: the answer has no body, whatever its headers say
 */
export async function readRaw(socket: Socket, options: { head?: boolean } = {}): Promise<RawAnswer> {
  let received = Buffer.alloc(0)
  const whole = () => {
    if (received.toString('latin1', 0, 12) === 'HTTP/1.1 100')
      received = received.subarray(received.indexOf('\r\n\r\n') + 4)
    const end = received.indexOf('\r\n\r\n')
    if (end >= 0 && options.head) return true
    const headers = received.toString('latin1', 0, Math.max(0, end))
    if (/transfer-encoding: chunked/i.test(headers)) return received.toString('latin1').endsWith('\r\n0\r\n\r\n')
    const length = /content-length: (\d+)/i.exec(headers)?.[1]
    return end >= 0 && length !== undefined && received.length >= end + 4 + Number(length)
  }
  while (!whole() && !socket.readableEnded && !socket.destroyed) {
    const [chunk] = await Promise.race([once(socket, 'data'), once(socket, 'close')])
    if (Buffer.isBuffer(chunk)) received = Buffer.concat([received, chunk])
  }
  return parse(received)
}

/** Sends bytes on a new connection and reads the one answer. */
export async function sendRaw(url: string, bytes: string | Buffer): Promise<RawAnswer> {
  const socket = await openRaw(url)
  socket.write(bytes)
  try {
    return await readRaw(socket, { head: String(bytes).startsWith('HEAD ') })
  } finally {
    socket.destroy()
  }
}

/** The text of a request with its Host and, for a body, its Content-Length. */
export function requestText(method: string, target: string, headers: Record<string, string> = {}, body = ''): string {
  const length = body === '' ? {} : { 'content-length': String(Buffer.byteLength(body)) }
  const lines = Object.entries({ host: 'test', ...length, ...headers }).map(([name, value]) => `${name}: ${value}\r\n`)
  return `${method} ${target} HTTP/1.1\r\n${lines.join('')}\r\n${body}`
}

function parse(received: Buffer): RawAnswer {
  const end = received.indexOf('\r\n\r\n')
  const [first = '', ...lines] = received.toString('latin1', 0, Math.max(0, end)).split('\r\n')
  const headers = Object.fromEntries(
    lines.map(line => [line.slice(0, line.indexOf(':')).toLowerCase(), line.slice(line.indexOf(':') + 1).trim()]),
  )
  const text = received.toString('utf8', end + 4)
  const isJson = headers['content-type']?.includes('json') && text !== ''
  return { status: Number(first.split(' ')[1] ?? 0), headers, text, body: isJson ? JSON.parse(text) : text }
}
