/**
 * Limits how many large JSON bodies are read at once. A body that waits is not read yet. Before the wait, the caller is
 * authenticated and, for an edit, has the right to edit (contract/http.md, "Request bodies").
 */
import type { IncomingMessage } from 'node:http'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { DomainError } from '../../errors.ts'
import { createConcurrencyLimit } from '../../work/concurrency-limit.ts'
import { disconnectSignal } from '../answer/disconnect-signal.ts'
import { limitKeyOf } from '../limits/account.ts'
import { giveBackMemory } from './body-memory.ts'
import { firstPart } from './first-part.ts'
import { gatherBody } from './gathered-body.ts'
import { countValues, type JsonBounds, readJson } from './json.ts'
import { readJsonAside } from './json-pieces.ts'
import { refuseLateBody } from './late-body.ts'

declare module 'fastify' {
  interface FastifyContextConfig {
    /** The limits on the content of the body; left out: the default limits. */
    jsonBounds?: JsonBounds
    /** The module with the `AsideReader` that the process for large bodies calls. */
    asideReader?: URL
    /** Refuses a request before its large body is read. */
    beforeBody?: (request: FastifyRequest) => Promise<void>
  }
  interface FastifyRequest {
    hasBodyPlace: boolean
    /**
     * Throws when the caller has lost access since the request began. Called after a body has arrived, and during long
     * answers.
     */
    requireAccess: (() => void) | null
  }
}

const largeBytes = 256 * 1024
/** A body with at most this many values is parsed within some milliseconds. */
const fewValues = 5_000
const waitMs = 60_000
const limits = { atOnce: 4, perPartner: 2, waiting: 200, waitMs }

/** How long a body may wait before it is read. */
export const bodyWaitMs = (request: FastifyRequest): number =>
  takesLarge(request) && (isChunked(request) || isLarge(request)) ? waitMs : 0

/** Reads the JSON bodies of all routes. Call it after all other hooks that may refuse a request. */
export function readBodies(app: FastifyInstance): void {
  const places = createConcurrencyLimit(
    limits,
    'Other large requests are still being read: try again in a moment',
    'bodies',
  )
  // Fastify passes no reply to a body parser, so the reply of each request is kept here.
  const replies = new WeakMap<FastifyRequest, FastifyReply>()
  /** The bodies that are being read in the process for large bodies, or wait for it. */
  const readings = new WeakMap<FastifyRequest, Promise<unknown>>()
  /**
   * Waits until the concurrency limit lets this request read its body. The request counts until its answer has ended or
   * the caller has left. If the body is being read when the caller leaves, the request counts until it is read.
   * Otherwise callers that send bodies and leave could fill the memory.
   */
  const takePlace = async (request: FastifyRequest, reply: FastifyReply): Promise<void> => {
    const signal = disconnectSignal(reply)
    const end = await places.take(limitKeyOf(request) ?? request.ip, signal)
    request.hasBodyPlace = true
    if (signal.aborted) return end()
    signal.addEventListener('abort', () => void Promise.allSettled([readings.get(request)]).then(end))
  }
  app.decorateRequest('hasBodyPlace', false)
  app.decorateRequest('bodyObserver', null)
  app.decorateRequest('requireAccess', null)
  const waitForPlace = async (request: FastifyRequest, reply: FastifyReply): Promise<void> => {
    const { longUpload, bodyTimeoutMs } = request.routeOptions.config
    await takePlace(request, reply)
    if (!longUpload && bodyTimeoutMs !== undefined) refuseLateBody(request, reply, bodyTimeoutMs)
  }
  const prepare = async (request: FastifyRequest, reply: FastifyReply): Promise<void> => {
    await request.routeOptions.config.beforeBody?.(request)
    if (!isChunked(request)) await waitForPlace(request, reply)
  }
  app.addHook('preParsing', (request, reply, _payload, done) => {
    if (!takesLarge(request)) return done()
    replies.set(request, reply)
    return isChunked(request) || isLarge(request) ? prepare(request, reply) : done()
  })
  /**
   * A chunked body does not announce its length. So wait until the whole body or a first part has arrived. A short body
   * then does not count towards the limit, and a client that sends nothing does not delay others.
   */
  const waitForChunks = async (request: FastifyRequest, payload: IncomingMessage): Promise<void> => {
    const reply = replies.get(request)
    await firstPart(payload, payload.readableHighWaterMark)
    if (payload.complete || !reply) return
    await waitForPlace(request, reply)
    if (reply.raw.closed) throw new DomainError('unavailable', 'The caller has left')
  }
  app.removeAllContentTypeParsers()
  const parse = async (request: FastifyRequest, body: Buffer<ArrayBuffer>): Promise<unknown> => {
    request.requireAccess?.()
    if (await request.bodyObserver?.finish()) return {}
    const { config, schema } = request.routeOptions
    const { jsonBounds: bounds, asideReader: reader } = config
    if (body.length <= largeBytes && countValues(body, bounds) <= fewValues) return readJson(body, bounds)
    const reply = replies.get(request)
    if (!request.hasBodyPlace && reply) await takePlace(request, reply)
    if (reply?.raw.closed) throw new DomainError('unavailable', 'The caller has left')
    const reading = readJsonAside(body, { bounds, schema: Object(schema?.body), reader })
    readings.set(request, reading)
    return reading
  }
  app.addContentTypeParser('application/json', (request, payload, done) => {
    const read = (body: Buffer<ArrayBuffer>) =>
      parse(request, body)
        .finally(() => giveBackMemory(body))
        .then(value => done(null, value), done)
    const gather = () => gatherBody(request, payload, read, done)
    if (takesLarge(request) && isChunked(request)) waitForChunks(request, payload).then(gather, done)
    else gather()
  })
}

const takesLarge = ({ routeOptions: { bodyLimit = 0, config } }: FastifyRequest): boolean =>
  bodyLimit > largeBytes && config?.bodyType === undefined

const isChunked = ({ headers }: FastifyRequest): boolean => headers['transfer-encoding'] !== undefined

/**
 * Whether a JSON body is announced as large. Returns false for a body that is larger than the route accepts, because
 * such a body is refused and not read.
 */
function isLarge({ headers, routeOptions: { bodyLimit = 0 } }: FastifyRequest): boolean {
  const announced = Number(headers['content-length'] ?? 0)
  return announced > largeBytes && announced <= bodyLimit
}
