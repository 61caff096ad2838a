/**
 * Requests with the header `Idempotency-Key` (contract/http.md, "Repeated requests"). A route enables it with
 * `config: idempotent` and answers with `answerOnce`, or with `answerUploadOnce` when the body is a file.
 */
import { createHash, type Hash } from 'node:crypto'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { accountOf, type Caller } from '../../caller.ts'
import type { Database } from '../../db/database.ts'
import { broken } from '../../error-rules.ts'
import { DomainError } from '../../errors.ts'
import { keyHeader, readKey, replayedHeader } from '../../http/idempotency-key.ts'
import type { BodyObserver } from '../../http/input/gathered-body.ts'
import { addressOf } from '../../http/path-ids.ts'
import { type FileForm, LateFormError } from '../../http/upload/file-form.ts'
import type { Answer, Answers, Outcome, Scope } from '../answers.ts'

declare module 'fastify' {
  interface FastifyRequest {
    /**
     * The Idempotency-Key and what is known about it. null when the request has no key, or the operation accepts none.
     */
    keyed: Keyed | null
  }
}

/** `content` is the hash of the part of the body that has arrived so far. `kept` is the stored answer. */
type Keyed = { answers: Answers; scope: Scope; content: Hash; fingerprint: Buffer | null; kept: Answer | null }

/**
 * Reads a request's key before its body arrives, and sends the stored answer, if there is one, before the body is
 * validated.
 */
export function takeKeys(app: FastifyInstance, answers: Answers): void {
  app.decorateRequest('keyed', null)
  // The hook runs after onRequest, because authentication and permissions come first.
  app.addHook('preParsing', (request, _reply, _payload, done) => {
    const header = request.headers[keyHeader]
    if (!request.routeOptions.config.idempotent || header === undefined || request.caller === null) return done()
    const key = readKey(String(header))
    if (key === null) {
      return done(new DomainError('invalid', [broken('Idempotency-Key', 'idempotency-key')]))
    }
    const scope = scopeOf(request, request.caller, key)
    request.keyed = { answers, scope, content: createHash('sha256'), fingerprint: null, kept: null }
    request.bodyObserver = observerOf(request, request.keyed)
    done()
  })
  // Nearly all requests have no key. For them the hook continues without a promise, which is faster.
  app.addHook('preValidation', (request, reply, done) =>
    request.keyed === null ? done() : answerKept(request, reply, request.keyed),
  )
}

async function answerKept(request: FastifyRequest, reply: FastifyReply, keyed: Keyed): Promise<unknown> {
  if (request.routeOptions.config.longUpload) return answerKeptBeforeUpload(request, keyed)
  // A request without a body has no fingerprint yet, because no parser has run for it.
  if (keyed.fingerprint === null) await findKept(request, keyed)
  if (keyed.kept) return sendOutcome(reply, { answer: keyed.kept, isReplayed: true })
}

/**
 * What is known of an upload before its body is read. When its address is invalid, a key with a stored answer belongs to
 * another request, because only valid requests have stored answers.
 */
async function answerKeptBeforeUpload(request: FastifyRequest, { answers, scope }: Keyed): Promise<void> {
  // A dry run of an upload stores nothing, so its key is ignored.
  if (isTrial(request)) return
  if (hasValidAddress(request)) await answers.requireIdle(scope)
  else await answers.find(scope, fingerprintOf(request, invalidContent))
}

const hasValidAddress = (request: FastifyRequest): boolean =>
  (['params', 'querystring'] as const).every(part => {
    const validate = request.getValidationFunction(part)
    return validate === undefined || validate(part === 'params' ? request.params : request.query)
  })

/** Stands for the content of an invalid request. A request with a stored answer never has this content. */
const invalidContent = 'invalid'

/** Hashes a JSON body while it arrives. The stored answer is looked up before the body is parsed. */
const observerOf = (request: FastifyRequest, keyed: Keyed): BodyObserver => ({
  add: piece => keyed.content.update(piece),
  async finish() {
    await findKept(request, keyed)
    return keyed.kept !== null
  },
})

/**
 * Looks up the stored answer to an earlier request. Called when the whole body has arrived.
 *
 * @throws DomainError as `Answers.find`
 */
async function findKept(request: FastifyRequest, keyed: Keyed): Promise<void> {
  keyed.fingerprint = fingerprintOf(request, keyed.content.digest('hex'))
  keyed.kept = await keyed.answers.find(keyed.scope, keyed.fingerprint)
}

const isTrial = ({ query }: FastifyRequest): boolean => String((query as { dryRun?: unknown }).dryRun) === 'true'

/** The scope of a request's key. The path template of the route identifies the operation. */
function scopeOf(request: FastifyRequest, caller: Caller, key: string): Scope {
  const { type: accountType, id: accountId } = accountOf(caller)
  return { accountType, accountId, operation: `${request.method} ${request.routeOptions.url}`, key }
}

/**
 * Identifies a request. People of one account share its Idempotency-Keys. With `idempotent: 'own'` the answer is for the
 * person who sends it, so the same bytes from two people are two requests.
 *
 * @param content identifies the body: different bodies have different texts
 */
function fingerprintOf(request: FastifyRequest, content: string): Buffer {
  const { method, caller, routeOptions } = request
  const whose = routeOptions.config.idempotent === 'own' ? [caller?.subject] : []
  return createHash('sha256')
    .update(JSON.stringify([method, addressOf(request), content, ...whose]))
    .digest()
}

/**
 * Answers with the result of `work`, or with the first answer when the key was used before.
 *
 * @param options.status the status code of a success
 * @param options.committed runs after the change is committed and before the answer is sent
 * @param work gets dependencies whose database belongs to the transaction that stores the answer. If it returns null,
 *   the answer has no body
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
 * @param options.openForm opens the form; `work` must use its own parameter `openForm` instead, which also hashes the
 *   content
 * @param options.signal aborts when the client closes the connection
 */
export async function answerUploadOnce<Deps extends { database: Database }>(
  request: FastifyRequest,
  reply: FastifyReply,
  { deps, status, openForm, signal }: { deps: Deps; status: number; openForm: OpenForm; signal: AbortSignal },
  work: (deps: Deps, openForm: OpenForm) => Promise<object>,
): Promise<FastifyReply> {
  const { keyed } = request
  if (!keyed) return reply.code(status).send(await work(deps, openForm))
  const form = hashedForm(openForm)
  const body = { signal, fingerprint: async () => fingerprintOf(request, await form.content()) }
  const render = async (database: Database) => answerOf(reply, status, await work({ ...deps, database }, form.open))
  return sendOutcome(reply, await keyed.answers.onceLong(keyed.scope, body, render))
}

/**
 * Returns a function that opens the form, and one that returns the hash of its content, which is computed while it is
 * read.
 */
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
      // When no operation has opened the form, it is only compared with the one whose answer is stored.
      const isRepeat = opened === null
      try {
        const form = opened ?? (await open())
        for await (const _ of form.bytes);
        return JSON.stringify([hash.digest('hex'), [...form.texts].sort()])
      } catch (error) {
        if (isRepeat && isInvalidForm(error)) return invalidContent
        throw error
      }
    },
  }
}

/** A form that took too long may be the same form, so it is left out. */
const isInvalidForm = (error: unknown): boolean =>
  error instanceof DomainError && error.code === 'invalid' && !(error instanceof LateFormError)

async function* hashing(bytes: AsyncIterable<Buffer>, hash: Hash): AsyncGenerator<Buffer> {
  for await (const chunk of bytes) {
    hash.update(chunk)
    yield chunk
  }
}

/** The answer as it is sent and stored. */
function answerOf(reply: FastifyReply, status: number, view: object | null): Answer {
  const body = view === null ? Buffer.alloc(0) : Buffer.from(reply.code(status).serialize(view) as string)
  const headerOf = (name: string) => reply.getHeader(name)?.toString() ?? null
  return { status, body, location: headerOf('location'), etag: headerOf('etag') }
}

function sendOutcome(reply: FastifyReply, { answer, isReplayed }: Outcome): FastifyReply {
  if (answer.location !== null) reply.header('location', answer.location)
  if (answer.etag !== null) reply.header('etag', answer.etag)
  if (isReplayed) reply.header(replayedHeader, 'true')
  if (answer.body.length === 0) return reply.code(answer.status).send()
  return reply.code(answer.status).type('application/json; charset=utf-8').send(answer.body)
}
