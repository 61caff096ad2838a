/**
 * Sends one HTTP request with Node's own client. `fetch` takes three times the processor time, which a test of load
 * would take from the platform.
 */
import { Agent, type IncomingMessage, request } from 'node:http'

export type Exchange = {
  method: string
  headers: Record<string, string>
  body?: string | Uint8Array
  /** The time limit for the complete answer. */
  timeoutMs: number
}

const agent = new Agent({ keepAlive: true })

/**
 * Rejects when the connection breaks or the time is over. It does not follow redirects and asks for no content coding.
 */
export function exchange(address: string, { method, headers, body, timeoutMs }: Exchange) {
  return new Promise<{ status: number; headers: Headers; bytes: Buffer }>((resolve, reject) => {
    const signal = AbortSignal.timeout(timeoutMs)
    const length = body === undefined ? {} : { 'content-length': String(Buffer.byteLength(body)) }
    const sent = request(address, { method, headers: { ...headers, ...length }, agent, signal })
    sent.once('response', response => {
      const chunks: Buffer[] = []
      response.on('data', (chunk: Buffer) => chunks.push(chunk))
      response.once('error', reject)
      response.once('end', () =>
        resolve({ status: response.statusCode ?? 0, headers: headersOf(response), bytes: Buffer.concat(chunks) }),
      )
    })
    sent.on('error', reject)
    sent.end(body)
  })
}

function headersOf({ headersDistinct }: IncomingMessage): Headers {
  const headers = new Headers()
  for (const [name, values = []] of Object.entries(headersDistinct))
    for (const value of values) headers.append(name, value)
  return headers
}
