/**
 * Calls a running platform's admin interface. Uses `node:http` because `fetch` takes 10 ms longer to start and cannot
 * stop an upload as soon as the platform refuses it.
 */
import { once } from 'node:events'
import type { ClientRequest, IncomingMessage } from 'node:http'
import { urlToHttpOptions } from 'node:url'
import { cliAgent } from '../access/request/trace.ts'
import { processEnvironment } from '../config.ts'
import { readClientConfig } from './command-settings.ts'
import {
  isUnknownParameter,
  isUnknownPath,
  noAdmin,
  notPerkline,
  otherVersion,
  refused,
  tooSlow,
  unreachable,
  wrongKey,
} from './connection-errors.ts'
import { CommandError } from './failure.ts'
import { plain } from './output.ts'

export type AdminCall = {
  method: 'GET' | 'POST'
  /** Path below `/admin`, with its query. */
  path: string
  json?: unknown
  csv?: AsyncIterable<Uint8Array>
  /** Whether the first byte of the answer may take minutes. */
  long?: boolean
  /** The platform's address; default: PERKLINE_URL. */
  url?: string
  /** Gets the headers of the answer before its first byte is read. */
  onHeaders?(headers: IncomingMessage['headers']): void
  /** The line before the messages of an error answer. */
  refusal?: string
}

const connectTimeoutMs = 10_000
const answerTimeoutMs = 60_000
const longAnswerTimeoutMs = 30 * 60_000
const maxErrorBytes = 64 * 1024 * 1024

/**
 * Makes one call.
 *
 * @returns the answer's JSON value, whose shape the caller must know
 * @throws CommandError when the platform refuses or can't be reached, ConfigError when the settings do not contain
 *   its address
 */
export async function callAdmin<T>(call: AdminCall): Promise<T> {
  const response = await send(call)
  return parse<T>(await readText(response))
}

/** Makes a call whose answer is a file, and returns its bytes as they arrive. */
export const fetchAdmin = async (call: AdminCall): Promise<AsyncIterable<Uint8Array>> =>
  wholeOf<Uint8Array>(await send(call))

/** Makes a call whose answer is NDJSON, and yields each value as it arrives, so an answer may have any length. */
export async function* streamAdmin<T extends object>(call: AdminCall): AsyncGenerator<T, void, undefined> {
  const response = await send(call)
  let rest = ''
  for await (const text of textOf(response)) {
    const lines = (rest + text).split('\n')
    rest = lines.pop() ?? ''
    for (const line of lines) if (line !== '') yield value(line)
  }
  if (rest !== '') yield value(rest)

  function value(line: string): T {
    const read = parse<T & { error?: string }>(line)
    if (read.error !== undefined) throw new CommandError(plain(String(read.error)))
    return read
  }
}

async function send(call: AdminCall): Promise<IncomingMessage> {
  const env = processEnvironment()
  const { url, operatorKey } = readClientConfig(call.url === undefined ? env : { ...env, PERKLINE_URL: call.url })
  const address = new URL(url)
  if (!/^https?:$/.test(address.protocol)) throw new CommandError('PERKLINE_URL must start with http:// or https://')
  const shown = `${address.origin}${address.pathname.replace(/\/+$/, '')}`
  // The platform accepts only keys of printable ASCII characters (`isOperatorKey`), so any other key is wrong. Some
  // other characters cannot even be sent in a header.
  if (!/^[\x20-\x7e]+$/.test(operatorKey)) throw wrongKey(shown)

  const { request: open } = address.protocol === 'https:' ? await import('node:https') : await import('node:http')
  const body = call.json === undefined ? undefined : Buffer.from(JSON.stringify(call.json))
  const request = open({
    ...urlToHttpOptions(address),
    method: call.method,
    path: `${address.pathname.replace(/\/+$/, '')}/admin${call.path}`,
    timeout: connectTimeoutMs,
    headers: {
      authorization: `Bearer ${operatorKey}`,
      accept: 'application/json, application/x-ndjson',
      'user-agent': cliAgent,
      ...(body && { 'content-type': 'application/json', 'content-length': body.length }),
      ...(call.csv && { 'content-type': 'text/csv' }),
    },
  })
  try {
    const response = await answerTo(request, call, body)
    const { statusCode = 0, statusMessage = '' } = response
    if (statusCode >= 200 && statusCode < 300) {
      call.onHeaders?.(response.headers)
      return response
    }
    if (statusCode === 401) throw wrongKey(shown)
    const text = await readText(response)
    if (statusCode === 404 && isUnknownPath(text)) throw noAdmin(shown)
    if (statusCode === 400 && call.method === 'GET' && isUnknownParameter(text)) throw otherVersion(shown)
    throw refused(text, call.refusal, `${shown} answered ${statusCode} ${statusMessage}`)
  } catch (error) {
    request.destroy()
    throw error instanceof CommandError ? error : unreachable(error, shown, call.method === 'POST')
  }
}

/** Sends the body, and stops as soon as the platform refuses it. */
async function answerTo(request: ClientRequest, call: AdminCall, body: Buffer | undefined): Promise<IncomingMessage> {
  const over = new AbortController()
  let connected = false
  request.on('socket', socket => {
    const onConnect = () => {
      connected = true
      socket.setTimeout(call.long ? longAnswerTimeoutMs : answerTimeoutMs)
    }
    if (socket.connecting) socket.once('connect', onConnect)
    else onConnect()
  })
  request.on('timeout', () => request.destroy(connected ? tooSlow() : errorOf('ETIMEDOUT')))
  const answered = new Promise<IncomingMessage>((resolve, reject) => {
    request.once('response', resolve)
    // Keep this listener after the response: the connection may break while the answer is read, and an error without a
    // listener would end the process. The code that reads the answer reports the error.
    request.on('error', reject)
  })
  const stop = (response?: IncomingMessage) => {
    if ((response?.statusCode ?? 500) >= 300) over.abort()
  }
  answered.then(stop, () => stop())
  if (call.csv) void upload(call.csv, request, over.signal)
  else request.end(body)
  return answered
}

async function upload(source: AsyncIterable<Uint8Array>, request: ClientRequest, over: AbortSignal): Promise<void> {
  try {
    for await (const chunk of source) {
      if (over.aborted) return
      if (!request.write(chunk)) await once(request, 'drain', { signal: over })
    }
    request.end()
  } catch (error) {
    if (!over.aborted) request.destroy(error as Error)
  }
}

async function readText(response: IncomingMessage): Promise<string> {
  let text = ''
  for await (const part of textOf(response)) {
    text += part
    if (text.length > maxErrorBytes) throw notPerkline()
  }
  return text
}

function textOf(response: IncomingMessage): AsyncGenerator<string, void, undefined> {
  response.setEncoding('utf8')
  return wholeOf<string>(response)
}

/** @throws CommandError when the connection breaks before the end of the answer */
async function* wholeOf<Piece>(response: IncomingMessage): AsyncGenerator<Piece, void, undefined> {
  try {
    yield* response
  } catch (error) {
    if (error instanceof CommandError) throw error
    throw new CommandError('The connection to the platform broke before its answer was complete. Please try again.')
  }
}

function parse<T>(text: string): T {
  try {
    return JSON.parse(text)
  } catch {
    throw notPerkline()
  }
}

const errorOf = (code: string): Error => Object.assign(new Error(code), { code })
