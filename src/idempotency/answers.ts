/**
 * Lets a request with an Idempotency-Key take effect once (contract/http.md, "Repeated requests"). The first answer
 * is stored in the same transaction as the operation, and a repeated request gets this answer again. If the process
 * ends before the answer is sent, either both the change and its answer are stored, or neither.
 */
import { type Database, within } from '../db/database.ts'
import { longTransaction } from '../db/long-transaction.ts'
import { DomainError } from '../errors.ts'
import { createSealer, type Sealer } from '../sealing.ts'
import {
  findAnswer,
  forgetAnswers,
  isRunning,
  type KeptAnswer,
  keepAnswer,
  listAnswers,
  replaceSealed,
  type Scope,
  tryLock,
} from './store.ts'

export type { Scope } from './store.ts'
/** The answer to a successful request. */
export type Answer = { status: number; body: Buffer; location: string | null; etag: string | null }
export type Outcome = { answer: Answer; isReplayed: boolean }

export type Answers = {
  /** Refuses a request while another one with the same key is running. @throws DomainError 'request-in-progress' */
  requireIdle(scope: Scope): Promise<void>
  /**
   * Finds the stored answer to the same request. It is looked up before the body is validated. Returns null when the
   * key is new.
   *
   * @throws DomainError 'request-in-progress' while another request with the key is running; 'key-reused' when the key was used for
   *   another request
   */
  find(scope: Scope, fingerprint: Buffer): Promise<Answer | null>
  /**
   * Runs `work` and stores its answer in one transaction, unless an answer is stored already.
   *
   * @param work must change data only through the database that it gets, which belongs to the transaction; it may run
   *   more than once
   * @throws as `find`, and every error of `work`: then nothing is stored
   */
  once(scope: Scope, fingerprint: Buffer, work: (database: Database) => Promise<Answer>): Promise<Outcome>
  /**
   * Like `once`, for work that reads a body of any length in a `longTransaction`.
   *
   * @param body.fingerprint reads the rest of the body, then returns its fingerprint
   * @param body.signal aborts when the client closes the connection: then nothing is stored
   */
  onceLong(
    scope: Scope,
    body: { fingerprint(): Promise<Buffer>; signal: AbortSignal },
    work: (database: Database) => Promise<Answer>,
  ): Promise<Outcome>
  /** Deletes some of the old answers. @returns whether there may be more */
  forgetOld(): Promise<boolean>
}

type Deps = { database: Database; masterKeys: readonly Buffer[]; hours: number }

const inProgress = () =>
  new DomainError('request-in-progress', 'A request with this Idempotency-Key is still running', {
    retryAfterSeconds: 1,
  })
const keyReused = () => new DomainError('key-reused', 'The Idempotency-Key was used for another request')

/** @param deps.hours how long answers are kept, in real time */
export function createAnswers({ database, masterKeys, hours }: Deps): Answers {
  const { opened, sealed } = createAnswerSealing(masterKeys)
  const requireIdle = async (scope: Scope) => {
    if (await isRunning(database, scope)) throw inProgress()
  }

  return {
    requireIdle,
    async find(scope, fingerprint) {
      await requireIdle(scope)
      const kept = await findAnswer(database, scope, hours)
      return kept && opened(scope, fingerprint, kept)
    },
    once: (scope, fingerprint, work) =>
      database.transaction(async transaction => {
        if (!(await tryLock(transaction, scope))) throw inProgress()
        const kept = await findAnswer(transaction, scope, hours)
        if (kept) return { answer: opened(scope, fingerprint, kept), isReplayed: true }
        const answer = await work(within(database, transaction))
        await keepAnswer(transaction, scope, sealed(scope, fingerprint, answer))
        return { answer, isReplayed: false }
      }),
    async onceLong(scope, { fingerprint, signal }, work) {
      const run = async (): Promise<Answer | KeptAnswer> =>
        longTransaction(
          database,
          async (client, transaction) => {
            // This transaction stays open while the body arrives, so it may be idle for long. If the client pauses for
            // too long, the limits of uploads end it.
            await client.query("set local idle_in_transaction_session_timeout = '5min'")
            if (!(await tryLock(transaction, scope))) throw inProgress()
            const kept = await findAnswer(transaction, scope, hours)
            if (kept) return kept
            const answer = await work({ ...database, joined: client })
            await keepAnswer(transaction, scope, sealed(scope, await fingerprint(), answer))
            return answer
          },
          { signal },
        )
      const result = await run()
      if (!('fingerprint' in result)) return { answer: result, isReplayed: false }
      return { answer: opened(scope, await fingerprint(), result), isReplayed: true }
    },
    forgetOld: () => forgetAnswers(database, hours),
  }
}

/**
 * Encrypts stored answers, and decrypts an answer only for a request with the same fingerprint. The fingerprint is a
 * hash of the body, and is encrypted too: if the body contains a password, an attacker could find it by trying
 * passwords until the hash matches.
 */
function createAnswerSealing(masterKeys: readonly Buffer[]) {
  const sealer = createSealer(masterKeys, purpose)
  return {
    opened(scope: Scope, fingerprint: Buffer, { fingerprint: kept, body, ...answer }: KeptAnswer): Answer {
      const first = isSealed(kept) ? sealer.open(kept, additionalData(scope)) : kept
      if (!first.equals(fingerprint)) throw keyReused()
      return { ...answer, body: sealer.open(body, additionalData(scope)) }
    },
    sealed: (scope: Scope, fingerprint: Buffer, answer: Answer): KeptAnswer => ({
      ...answer,
      fingerprint: sealer.seal(fingerprint, additionalData(scope)),
      body: sealer.seal(answer.body, additionalData(scope)),
    }),
  }
}

const hashBytes = 32
/**
 * Whether a stored fingerprint is encrypted. Earlier versions of the program stored the hash itself, and their answers may
 * still be there for some hours after an upgrade.
 */
const isSealed = (fingerprint: Buffer): boolean => fingerprint.length > hashBytes

const purpose = 'idempotency'

/** Binds the ciphertext to its scope: an answer that is moved to another scope cannot be decrypted. */
const additionalData = ({ accountType, accountId, operation, key }: Scope): Buffer =>
  Buffer.from(JSON.stringify([accountType, accountId, operation, key]))

const resealedAtOnce = 500

/** Encrypts all stored answers with the first master key, so that the other keys can be removed. */
export async function resealAnswers({ database, masterKeys }: Omit<Deps, 'hours'>): Promise<void> {
  const sealer: Sealer = createSealer(masterKeys, purpose)
  for (let after: Scope | null = null; ; ) {
    const answers: Awaited<ReturnType<typeof listAnswers>> = await listAnswers(database, after, resealedAtOnce)
    for (const { body, fingerprint, ...scope } of answers)
      if (!sealer.isCurrent(body)) {
        const resealed = (bytes: Buffer) =>
          sealer.seal(sealer.open(bytes, additionalData(scope)), additionalData(scope))
        await replaceSealed(database, scope, body, {
          body: resealed(body),
          fingerprint: isSealed(fingerprint) ? resealed(fingerprint) : fingerprint,
        })
      }
    after = answers.at(-1) ?? null
    if (answers.length < resealedAtOnce) return
  }
}
