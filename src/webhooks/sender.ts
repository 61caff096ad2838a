/** Sends one HTTP request of a delivery (contract/webhooks.md, "The request"). */
import { Agent, type ClientRequest, request as httpRequest, type IncomingMessage } from 'node:http'
import { request as httpsRequest, type RequestOptions, Agent as SecureAgent } from 'node:https'
import type { LookupFunction, Socket } from 'node:net'
import { urlToHttpOptions } from 'node:url'
import { AddressRefusedError, type AddressRules, literalOf, NameError, resolveAllowed } from './addresses.ts'

export const outcomes = [
  'delivered',
  'http-error',
  'redirect',
  'timeout',
  'dns',
  'connection',
  'tls',
  'address-refused',
  'interrupted',
] as const
export type Outcome = (typeof outcomes)[number]

export type Attempted = {
  outcome: Outcome
  durationMs: number
  statusCode: number | null
  responseExcerpt: string | null
  /** The header `Retry-After`. */
  retryAfter: string | undefined
}

export type Sender = {
  send(url: string, headers: Record<string, string>, body: string): Promise<Attempted>
  close(): void
}

const connectMs = 5_000
const wholeMs = 15_000
const keptMs = 60_000
const maxReadBytes = 64 * 1024
/**
 * The maximum number of `data` events that are read of an answer. Each takes time, and a chunked answer may send single
 * bytes.
 */
const maxPieces = 64
/** The maximum number of informational answers (1xx) before the final answer. */
const maxInformational = 10
const maxKeptBytes = 1024

/** @param options.ca all trusted certificate authorities (PEM), in place of Node's default ones; null: the default ones */
export function createSender({ rules, ca }: { rules: AddressRules; ca: string[] | null }): Sender {
  const agents = {
    http: new Agent({ ...agentOptions, ...readInPieces }),
    https: new SecureAgent({ ...agentOptions, ...(ca && { ca }) }),
  }
  for (const agent of Object.values(agents)) limitAge(agent)
  const lookup = lookupWithin(rules)

  function targetOf(address: string): Target {
    const url = new URL(address)
    // Node.js does not call `lookup` for an IP address, so the address is checked here.
    const literal = literalOf(url.hostname)
    const isSecure = url.protocol === 'https:'
    const agent = isSecure ? agents.https : agents.http
    const options = { ...urlToHttpOptions(url), method: 'POST', agent, lookup, minVersion: 'TLSv1.2' as const }
    return { options, isSecure, isRefused: literal !== null && !rules.isAllowed(literal) }
  }
  const targets = new Map<string, Target>()
  const knownTarget = (address: string): Target => {
    const known = targets.get(address)
    if (known) return known
    if (targets.size >= maxTargets) targets.clear()
    const target = targetOf(address)
    targets.set(address, target)
    return target
  }

  async function attempt(url: string, headers: Record<string, string>, body: string): Promise<Answer> {
    const { options, isSecure, isRefused } = knownTarget(url)
    if (isRefused) throw new AddressRefusedError('The address may not be called')
    const request = (isSecure ? httpsRequest : httpRequest)({
      ...options,
      headers: { ...headers, 'content-length': String(Buffer.byteLength(body)) },
    })
    request.once('socket', socket => {
      if (!request.reusedSocket) bornAt.set(socket, performance.now())
    })
    limitTime(request, isSecure ? 'secureConnect' : 'connect')
    const answered = answerOf(request)
    request.end(body)
    return answered
  }

  return {
    async send(url, headers, body) {
      const beganMs = performance.now()
      const answer = await attempt(url, headers, body).catch((error: Error) => failure(error))
      return { ...answer, durationMs: Math.round(performance.now() - beganMs) }
    },
    close() {
      for (const agent of Object.values(agents)) agent.destroy()
    },
  }
}

/** Everything that depends only on the URL. It is cached, because parsing the URL for each request takes noticeable time. */
type Target = { options: RequestOptions; isSecure: boolean; isRefused: boolean }
const maxTargets = 1_000

/**
 * Makes the `lookup` function of requests. Node.js calls it for each new connection to a host name, and it fails when
 * the rules refuse an address of this name.
 */
const lookupWithin =
  (rules: AddressRules): LookupFunction =>
  (hostname, options, callback) => {
    resolveAllowed(rules, hostname).then(
      addresses => {
        const found = addresses.map(address => ({ address, family: address.includes(':') ? 6 : 4 }))
        if (options.all) callback(null, found)
        else callback(null, found[0]?.address ?? '', found[0]?.family ?? 4)
      },
      (error: Error) => callback(error, '', 4),
    )
  }

/**
 * Ends the request when connecting, or the whole request, takes too long.
 *
 * @param connectEvent the event by which a new socket reports that it is connected
 */
function limitTime(request: ClientRequest, connectEvent: 'connect' | 'secureConnect'): void {
  const end = () => request.destroy(new LateError())
  const whole = setTimeout(end, wholeMs)
  let connecting: NodeJS.Timeout | undefined
  request.once('socket', socket => {
    if (request.reusedSocket) return
    connecting = setTimeout(end, connectMs)
    socket.once(connectEvent, () => clearTimeout(connecting))
  })
  request.once('close', () => {
    clearTimeout(whole)
    clearTimeout(connecting)
  })
}

function answerOf(request: ClientRequest): Promise<Answer> {
  return new Promise<Answer>((resolve, reject) => {
    let hasAnswer = false
    const take = (response: IncomingMessage) => {
      hasAnswer = true
      readAnswer(response).then(resolve)
    }
    request.once('response', take)
    let informational = 0
    request.on('information', () => {
      if (++informational > maxInformational) request.destroy(new Error('There are too many informational answers'))
    })
    // When a receiver answers 101 to change the protocol, Node.js emits `upgrade` instead of `response`.
    request.once('upgrade', (response, socket) => {
      take(response)
      socket.destroy()
    })
    request.on('error', error => {
      // Once the status is known, only an exceeded time limit counts as an error. Others are ignored, such as a 204
      // with a body.
      if (!hasAnswer || error instanceof LateError) reject(error)
    })
    request.once('close', () => {
      // The request may have ended without an answer and without an error. Then the caller would wait forever.
      if (!hasAnswer) reject(new Error('The connection ended without an answer'))
    })
  })
}

const agentOptions = { keepAlive: true, maxFreeSockets: 64, timeout: keptMs }

/**
 * Options for plain HTTP: Node.js then reads 4 KiB at a time instead of 64. Node.js parses everything that it has read,
 * even after the request was destroyed, and this is slow for small chunks or informational answers. TLS does not need
 * these options, because its records are small.
 */
const readInPieces = {
  onread: {
    buffer: () => Buffer.allocUnsafe(4096),
    callback(this: Socket, bytes: number, read: Buffer) {
      this.emit('data', read.subarray(0, bytes))
      return true
    },
  },
}

type Answer = Omit<Attempted, 'durationMs'>

class LateError extends Error {
  override name = 'LateError'
}

/** When each connection was made. */
const bornAt = new WeakMap<object, number>()

/**
 * Closes a connection after a minute, because its address was checked only when the connection was made. If a
 * connection is older than that when its request ends, it is closed at once.
 */
function limitAge(agent: Agent): void {
  const keep = agent.keepSocketAlive.bind(agent)
  agent.keepSocketAlive = stream => {
    const socket = stream as Socket
    const leftMs = keptMs - (performance.now() - (bornAt.get(socket) ?? Number.NEGATIVE_INFINITY))
    if (leftMs <= 0 || keep(stream) === (false as unknown)) return false
    socket.setTimeout(leftMs)
    return true
  }
}

/**
 * Reads a bounded part of the answer, because a receiver may answer without end. If the answer is cut off, its status
 * still tells whether the receiver accepted the event.
 */
function readAnswer(response: IncomingMessage): Promise<Answer> {
  const statusCode = response.statusCode ?? 0
  const kept: Buffer[] = []
  let [bytes, pieces] = [0, 0]
  response.on('data', (piece: Buffer) => {
    if (bytes < maxKeptBytes) kept.push(piece.subarray(0, maxKeptBytes - bytes))
    bytes += piece.length
    if (bytes > maxReadBytes || ++pieces > maxPieces) response.destroy()
  })
  return new Promise(resolve => {
    const end = () =>
      resolve({
        outcome: outcomeOf(statusCode),
        statusCode,
        responseExcerpt: excerpt(Buffer.concat(kept)),
        retryAfter: response.headers['retry-after'],
      })
    response.once('end', end)
    response.once('close', end)
    response.on('error', () => {})
  })
}

function outcomeOf(status: number): Outcome {
  if (status >= 200 && status < 300) return 'delivered'
  return status >= 300 && status < 400 ? 'redirect' : 'http-error'
}

/** The beginning of an answer as text. Control characters are replaced, so that the database can store the text. */
const excerpt = (bytes: Buffer): string => bytes.toString('utf8').replace(/[\p{Cc}\p{Cs}]/gu, '\ufffd')

const tlsCodes = /^(ERR_TLS|ERR_SSL|EPROTO|CERT_|DEPTH_ZERO|SELF_SIGNED|UNABLE_TO_|HOSTNAME_MISMATCH|INVALID_CA)/

function failure(error: Error & { code?: string }): Answer {
  return { outcome: failureOf(error), statusCode: null, responseExcerpt: null, retryAfter: undefined }
}

function failureOf(error: Error & { code?: string }): Outcome {
  if (error instanceof AddressRefusedError) return 'address-refused'
  if (error instanceof NameError) return 'dns'
  if (error instanceof LateError || error.code === 'ETIMEDOUT') return 'timeout'
  return tlsCodes.test(error.code ?? '') ? 'tls' : 'connection'
}
