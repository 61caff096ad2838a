/**
 * The header `Idempotency-Key` (contract/http.md, "Repeated requests"). A route enables it with `config: { idempotent: true }`
 * and answers with `answerOnce`, or with `answerUploadOnce` when the body is a file. This module does the rest.
 */
import { createHash, type Hash } from 'node:crypto'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import Type from 'typebox'
import { accountOf, type Caller } from '../access/caller.ts'
import type { Database } from '../db/database.ts'
import { broken } from '../error-rules.ts'
import { DomainError } from '../errors.ts'
import type { Answer, Answers, Outcome, Scope } from '../idempotency/answers.ts'
import type { FileForm } from './upload/file-form.ts'

declare module 'fastify' {
  interface FastifyContextConfig {
    /** The operation accepts an Idempotency-Key. */
    idempotent?: boolean
  }
  interface FastifyRequest {
    /** null: the request has no key, or the operation accepts none. */
    keyed: Keyed | null
  }
}

/** @property content hash of the body that has arrived so far */
type Keyed = { answers: Answers; scope: Scope; content: Hash; fingerprint: Buffer | null; kept: Answer | null }

/** For the `config` of a route. */
export const idempotent = { idempotent: true }

/** The options of an upload's route, with the header. */
export const idempotentUpload = <Options extends { config: object }>(options: Options) =>
  ({ ...options, config: { ...options.config, ...idempotent } }) as const

export const keyHeader = 'idempotency-key'
export const replayedHeader = 'idempotent-replayed'

/** How documents describe the header. */
export const KeyHeader = Type.String({
  minLength: 1,
  maxLength: 257,
  description:
    'Makes the request safe to retry: with the same key and content it takes effect once, and a retry returns the ' +
    'first answer with `idempotent-replayed: true`. 1 to 255 visible ASCII characters, with or without quotes; a key ' +
    'belongs to the account and the ' +
    'operation and is kept for 24 hours (a setting of the platform). Only 2xx answers are stored.',
  examples: ['9b2f6d1e-order-42'],
})
export const keyErrors = {
  409: 'A request with this `Idempotency-Key` is still running; try again after `Retry-After` seconds',
  422: 'The `Idempotency-Key` was used for another request',
}

const keyForm = /^[\x21-\x7e]{1,255}$/

/** @returns the key; null for an invalid one */
export function readKey(header: string): string | null {
  const quoted = /^"((?:[^"\\]|\\["\\])*)"$/.exec(header)?.[1]
  if (quoted === undefined && header.startsWith('"')) return null
  const key = quoted?.replace(/\\(.)/g, '$1') ?? header
  return keyForm.test(key) ? key : null
}

/** Reads keys before bodies, and sends stored answers before validation. */
export function takeKeys(app: FastifyInstance, answers: Answers): void {
  app.decorateRequest('keyed', null)
  // Later than onRequest, because authentication and permissions come first.
  app.addHook('preParsing', (request, _reply, _payload, done) => {
    const header = request.headers[keyHeader]
    if (!request.routeOptions.config.idempotent || header === undefined || request.caller === null) return done()
    const key = readKey(String(header))
    if (key === null) {
      return done(new DomainError('invalid', [broken('Idempotency-Key', 'idempotency-key')]))
    }
    const scope = scopeOf(request, request.caller, key)
    request.keyed = { answers, scope, content: createHash('sha256'), fingerprint: null, kept: null }
    done()
  })
  // Nearly all requests have no key and need not wait for a promise.
  app.addHook('preValidation', (request, reply, done) =>
    request.keyed === null ? done() : answerKept(request, reply, request.keyed),
  )
}

async function answerKept(request: FastifyRequest, reply: FastifyReply, keyed: Keyed): Promise<unknown> {
  // A dry run of an upload stores nothing, so its key is ignored.
  if (request.routeOptions.config.longUpload)
    return isTrial(request) ? undefined : keyed.answers.requireIdle(keyed.scope)
  // No parser runs for an absent body.
  if (keyed.fingerprint === null) await findKeptAnswer(request)
  if (keyed.kept) return sendOutcome(reply, { answer: keyed.kept, isReplayed: true })
}

/** Must be called with each piece of a body as it arrives. */
export function noteBody(request: FastifyRequest, piece: Buffer): void {
  request.keyed?.content.update(piece)
}

/**
 * Looks for the answer to an earlier request once the body has arrived.
 *
 * @returns true when there is one, and the body need not be parsed
 * @throws DomainError 'request-in-progress', 'key-reused'
 */
export async function findKeptAnswer(request: FastifyRequest): Promise<boolean> {
  const { keyed } = request
  if (keyed === null) return false
  keyed.fingerprint = fingerprintOf(request, keyed.content.digest('hex'))
  keyed.kept = await keyed.answers.find(keyed.scope, keyed.fingerprint)
  return keyed.kept !== null
}

const isTrial = ({ query }: FastifyRequest): boolean => String((query as { dryRun?: unknown }).dryRun) === 'true'

/** The operation is identified by its path template. */
function scopeOf(request: FastifyRequest, caller: Caller, key: string): Scope {
  const { type: accountType, id: accountId } = accountOf(caller)
  return { accountType, accountId, operation: `${request.method} ${request.routeOptions.url}`, key }
}

/** @param content identifies the body: different bodies have different texts */
function fingerprintOf(request: FastifyRequest, content: string): Buffer {
  return createHash('sha256')
    .update(JSON.stringify([request.method, request.raw.url, content]))
    .digest()
}

/**
 * Answers with the result of `work`, or with the first answer when the key was used before.
 *
 * @param options.status of a success
 * @param options.committed runs before the answer goes out, when the change stands
 * @param work gets dependencies whose database belongs to the transaction that stores the answer; null: an answer without a body
 */
export async function answerOnce<Deps extends { database: Database }>(
  request: FastifyRequest,
  reply: FastifyReply,
  { deps, status, committed }: { deps: Deps; status: number; committed?: () => Promise<void> },
  work: (deps: Deps) => Promise<object | null>,
): Promise<FastifyReply> {
  const { keyed } = request
  if (!keyed?.fingerprint) {
    const view = await work(deps)
    await committed?.()
    return reply.code(status).send(view)
  }
  const render = async (database: Database) => answerOf(reply, status, await work({ ...deps, database }))
  const outcome = await keyed.answers.once(keyed.scope, keyed.fingerprint, render)
  await committed?.()
  return sendOutcome(reply, outcome)
}

type OpenForm = () => Promise<FileForm>

/**
 * Like `answerOnce`, for a form with a file.
 *
 * @param upload.openForm opens the form; `work` must use the one that it gets
 * @param upload.left aborts when the client closes the connection
 */
export async function answerUploadOnce<Deps extends { database: Database }>(
  request: FastifyRequest,
  reply: FastifyReply,
  { deps, status, openForm, left }: { deps: Deps; status: number; openForm: OpenForm; left: AbortSignal },
  work: (deps: Deps, openForm: OpenForm) => Promise<object>,
): Promise<FastifyReply> {
  const { keyed } = request
  if (!keyed) return reply.code(status).send(await work(deps, openForm))
  const form = hashedForm(openForm)
  const body = { left, fingerprint: async () => fingerprintOf(request, await form.content()) }
  const render = async (database: Database) => answerOf(reply, status, await work({ ...deps, database }, form.open))
  return sendOutcome(reply, await keyed.answers.onceLong(keyed.scope, body, render))
}

/** A form whose content is hashed while it is read. */
function hashedForm(openForm: OpenForm): { open: OpenForm; content(): Promise<string> } {
  const hash = createHash('sha256')
  let opened: FileForm | null = null
  const open = async () => {
    const form = await openForm()
    opened = { ...form, bytes: hashing(form.bytes, hash) }
    return opened
  }
  return {
    open,
    async content() {
      const form = opened ?? (await open())
      for await (const _ of form.bytes);
      return JSON.stringify([hash.digest('hex'), [...form.texts].sort()])
    },
  }
}

async function* hashing(bytes: AsyncIterable<Buffer>, hash: Hash): AsyncGenerator<Buffer> {
  for await (const chunk of bytes) {
    hash.update(chunk)
    yield chunk
  }
}

/** The answer as it is sent and stored. */
function answerOf(reply: FastifyReply, status: number, view: object | null): Answer {
  const body = view === null ? Buffer.alloc(0) : Buffer.from(reply.code(status).serialize(view) as string)
  return { status, body, location: reply.getHeader('location')?.toString() ?? null }
}

function sendOutcome(reply: FastifyReply, { answer, isReplayed }: Outcome): FastifyReply {
  if (answer.location !== null) reply.header('location', answer.location)
  if (isReplayed) reply.header(replayedHeader, 'true')
  if (answer.body.length === 0) return reply.code(answer.status).send()
  return reply.code(answer.status).type('application/json; charset=utf-8').send(answer.body)
}
