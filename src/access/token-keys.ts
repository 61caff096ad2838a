/**
 * The Ed25519 key pairs that sign access tokens (contract/access.md, "Tokens"). They are stored in the database,
 * encrypted with the master key. Only processes that issue tokens need the private keys. Keys that the master key does
 * not prove are ignored (`token-key-sealing.ts`).
 *
 * A new pair begins to sign some time after its creation, when every process has read it. The previous pair is accepted
 * until its last token has expired. So no request fails during a rotation, or during the upgrade from version 0.2 with
 * its HMAC tokens.
 */
import { createHash, generateKeyPairSync } from 'node:crypto'
import { createSigner, createVerifier } from 'fast-jwt'
import { realMs } from '../clock.ts'
import { createSharedRead } from '../db/batching.ts'
import type { Database, Queryable } from '../db/database.ts'
import { notify } from '../db/notifications.ts'
import { DomainError } from '../errors.ts'
import { deriveKeys } from '../keys.ts'
import { recordEntries } from '../outbox/audit-entry-writing.ts'
import { type Origin, operatorOrigin } from '../outbox/origin.ts'
import { createTokenKeySealing, type TokenKeySealing } from './token-key-sealing.ts'
import * as store from './token-keys-store.ts'

export const tokenLifetimeSeconds = 7200
/** The length of a person's session where the account's policy sets none. */
export const defaultSessionMinutes = tokenLifetimeSeconds / 60
export const issuer = 'perkline'
export const audience = 'perkline-api'

type SignTokens = (claims: object) => string
/** Checks a token's signature, issuer and audience. @throws when one of them is wrong */
type VerifyToken = (token: string) => object

export type TokenKeys = {
  /**
   * Returns the function that signs tokens at this time.
   * @throws DomainError 'unavailable' while this process knows no key to sign with
   */
  signer(nowMs: number): SignTokens
  /** Whether `signer` would return a function. */
  canSign(nowMs: number): boolean
  /** The function that verifies tokens of this algorithm and key; null when they are not accepted at this time. */
  verifier(algorithm: string, keyId: string, nowMs: number): VerifyToken | null
  /** Reads the keys again. Concurrent callers share a read only if it begins after their calls. */
  refresh(): Promise<void>
}

type KnownKey = { keyId: string; signsFromMs: number; sign: SignTokens | null; verify: VerifyToken }
type UnknownKey = { keyId: string; error: unknown }

/**
 * How long after its creation a new key begins to sign. Every process looks for new keys every 2 s. The remaining time
 * allows for small differences between clocks.
 */
const newKeySignsAfterMs = 10_000
/**
 * How long after its creation the first key begins to sign in a database that version 0.2 has used. In this time the
 * operator can replace all processes of version 0.2, which do not accept the new tokens.
 */
const firstKeySignsAfterMs = 15 * 60_000
const acceptedForMs = (tokenLifetimeSeconds + 60) * 1000

/**
 * @param options.readKeys all keys, in the order in which they sign
 * @param options.mayIssue whether this process issues tokens and needs the private keys
 * @param options.onUnproven called once for each key whose tokens are refused only because the master key does not
 *   prove the key
 */
export function createTokenKeys(options: {
  readKeys: () => Promise<store.TokenKeyRow[]>
  masterKeys: readonly Buffer[]
  mayIssue: boolean
  onUnproven?: (keyId: string, error: unknown) => void
}): TokenKeys {
  const { readKeys, masterKeys, mayIssue, onUnproven = () => {} } = options
  const sealing = createTokenKeySealing(masterKeys)
  const version02 = keysOfVersion02(masterKeys)
  let known: KnownKey[] = []
  let reported = new Set<string>()

  const report = (unproven: UnknownKey[]): void => {
    for (const { keyId, error } of unproven) if (!reported.has(keyId)) onUnproven(keyId, error)
    reported = new Set(unproven.map(({ keyId }) => keyId))
  }

  const refresh = createSharedRead(async () => {
    const rows = await readKeys()
    const before = new Map(known.map(key => [key.keyId, key]))
    const opened = rows.map(row => before.get(row.keyId) ?? tryToOpen(row, () => openKey(row, sealing, mayIssue)))
    const refused = opened.filter(key => 'error' in key)
    // If no key is proven, MASTER_KEY belongs to another database.
    if (refused.length > 0 && refused.length === rows.length) throw refused[0]?.error
    known = opened.filter(key => 'verify' in key)
    report(refused.filter(({ keyId }) => wouldCount(rows, keyId, realMs())))
  })

  /** A key is accepted until the last token that it signed has expired. */
  const acceptedUntilMs = (index: number): number => {
    const next = known[index + 1]
    return next === undefined ? Number.POSITIVE_INFINITY : next.signsFromMs + acceptedForMs
  }

  const findSigner = (nowMs: number): SignTokens | null => {
    const key = known.findLast(({ signsFromMs }) => signsFromMs <= nowMs)
    if (key?.sign) return key.sign
    return mayIssue && !key && known.length > 0 ? version02.sign : null
  }

  return {
    refresh,
    canSign: nowMs => findSigner(nowMs) !== null,

    signer(nowMs) {
      const sign = findSigner(nowMs)
      if (sign) return sign
      throw new DomainError('unavailable', 'Tokens cannot be issued at the moment; try again', { retryAfterSeconds: 2 })
    },

    verifier(algorithm, keyId, nowMs) {
      if (algorithm === 'HS256') {
        const first = known[0]
        const accepted = first !== undefined && nowMs < first.signsFromMs + acceptedForMs
        return (accepted && version02.verifiers.get(keyId)) || null
      }
      const index = algorithm === 'EdDSA' ? known.findIndex(key => key.keyId === keyId) : -1
      return known[index] && nowMs < acceptedUntilMs(index) ? known[index].verify : null
    },
  }
}

/**
 * Makes the first key pair unless an encrypted one exists. If version 0.2 has used the database, the new key begins to
 * sign only after `firstKeySignsAfterMs`. A row without a public key that can be decrypted gets one, if its private key
 * can be decrypted.
 *
 * @param nowMs real time
 */
export async function ensureTokenKey(database: Database, masterKeys: readonly Buffer[], nowMs: number): Promise<void> {
  const sealing = createTokenKeySealing(masterKeys)
  const lacksPublicKey = (row: store.TokenKeyRow) => row.sealedPrivateKey !== null && !sealing.hasPublicKey(row)
  const found = await store.findTokenKeys(database)
  if (found.some(isSealed) && !found.some(lacksPublicKey)) return
  await database.transaction(async transaction => {
    await store.lockTokenKeys(transaction)
    const rows = await store.findTokenKeys(transaction)
    for (const row of rows.filter(lacksPublicKey)) {
      const sealed = tryToOpen(row, () => ({ keyId: row.keyId, ...sealing.reseal(row) }))
      if (!('error' in sealed)) await store.replaceSealed(transaction, sealed)
    }
    if (rows.some(isSealed)) return
    const inUse = await store.hasCredentials(transaction)
    const signsFromMs = nowMs + (inUse ? firstKeySignsAfterMs : 0)
    await store.insertTokenKey(transaction, makeTokenKey(masterKeys, new Date(signsFromMs)), new Date(nowMs))
  })
}

const isSealed = ({ sealedPublicKey, sealedPrivateKey }: store.TokenKeyRow): boolean =>
  sealedPublicKey !== null || sealedPrivateKey !== null

/**
 * Makes a new key pair that signs after some seconds. Existing tokens stay valid. Deletes private keys whose tokens have all
 * expired.
 *
 * @param nowMs real time
 * @returns the new key's id, and when it begins to sign
 */
export function rotateTokenKey(
  deps: { database: Database; masterKeys: readonly Buffer[]; origin?: Origin },
  nowMs: number,
): Promise<{ keyId: string; signsFrom: Date }> {
  return deps.database.transaction(async transaction => {
    await store.lockTokenKeys(transaction)
    await store.forgetPrivateKeys(transaction, new Date(nowMs - acceptedForMs))
    const sealing = createTokenKeySealing(deps.masterKeys)
    const rows = await store.findTokenKeys(transaction)
    const latest = rows.findLast(row => !('error' in tryToOpen(row, () => sealing.publicKeyOf(row))))
    // The new key must begin to sign later than the previous one. The same instant is not enough.
    const signsFromMs = Math.max(nowMs + newKeySignsAfterMs, (latest?.signsFrom.getTime() ?? 0) + 1)
    const key = makeTokenKey(deps.masterKeys, new Date(signsFromMs))
    await store.insertTokenKey(transaction, key, new Date(nowMs))
    const object = { type: 'token-key', id: key.keyId }
    await recordEntries(transaction, deps.origin ?? operatorOrigin(), [{ action: 'keys.rotated', object }])
    await notify(transaction, 'access')
    return { keyId: key.keyId, signsFrom: key.signsFrom }
  })
}

/**
 * Encrypts the keys again with the first master key, so that the other master keys can be removed. Rows that cannot be decrypted and
 * rows without encrypted keys stay as they are.
 *
 * @param nowMs real time
 * @returns the ids of keys that cannot be decrypted and whose tokens have not all expired
 */
export function resealTokenKeys(database: Database, masterKeys: readonly Buffer[], nowMs: number): Promise<string[]> {
  const sealing = createTokenKeySealing(masterKeys)
  return database.transaction(async transaction => {
    await store.lockTokenKeys(transaction)
    const rows = await store.findTokenKeys(transaction)
    const unreadable: string[] = []
    for (const row of rows.filter(isSealed)) {
      if (sealing.isCurrent(row)) continue
      const sealed = tryToOpen(row, () => ({ keyId: row.keyId, ...sealing.reseal(row) }))
      if (!('error' in sealed)) await store.replaceSealed(transaction, sealed)
      else if (wouldCount(rows, row.keyId, nowMs)) unreadable.push(row.keyId)
    }
    return unreadable
  })
}

/**
 * Checks that the master keys can decrypt every encrypted key in the database. Keys whose tokens have all expired are
 * not checked.
 *
 * @param nowMs real time
 * @returns the number of key pairs that can be decrypted
 * @throws SealingError when none of the master keys can decrypt one of them
 */
export async function openTokenKeys(
  database: Queryable,
  masterKeys: readonly Buffer[],
  nowMs: number,
): Promise<number> {
  const sealing = createTokenKeySealing(masterKeys)
  const rows = await store.findTokenKeys(database)
  const opened = rows.filter(isSealed).filter(row => {
    const result = tryToOpen(row, () => [sealing.publicKeyOf(row), sealing.privateKeyOf(row)])
    if (!('error' in result)) return true
    if (wouldCount(rows, row.keyId, nowMs)) throw result.error
    return false
  })
  return opened.length
}

/**
 * Finds keys that the master key does not prove. Somebody else must have written them to the database. Keys whose
 * tokens have all expired are left out, because earlier versions have left such keys unproven.
 *
 * @param nowMs real time
 * @returns the ids of these keys, and the number of all keys
 */
export async function findUnprovenKeys(
  database: Queryable,
  masterKeys: readonly Buffer[],
  nowMs: number,
): Promise<{ unproven: string[]; keys: number }> {
  const sealing = createTokenKeySealing(masterKeys)
  const rows = await store.findTokenKeys(database)
  const unproven = rows.filter(row => 'error' in tryToOpen(row, () => sealing.publicKeyOf(row)))
  return {
    unproven: unproven.flatMap(({ keyId }) => (wouldCount(rows, keyId, nowMs) ? [keyId] : [])),
    keys: rows.length,
  }
}

/** Whether tokens of this key would be accepted now if all keys were proven. */
function wouldCount(rows: readonly store.TokenKeyRow[], keyId: string, nowMs: number): boolean {
  const next = rows[rows.findIndex(row => row.keyId === keyId) + 1]
  return next === undefined || nowMs < next.signsFrom.getTime() + acceptedForMs
}

/** Calls `open`. @returns its result, or the error that it has thrown */
function tryToOpen<Opened>({ keyId }: store.TokenKeyRow, open: () => Opened): Opened | UnknownKey {
  try {
    return open()
  } catch (error) {
    return { keyId, error }
  }
}

/** A new key pair, encrypted with the first master key. */
export function makeTokenKey(
  masterKeys: readonly Buffer[],
  signsFrom: Date,
): store.TokenKeyRow & { publicKey: Buffer; sealedPrivateKey: Buffer } {
  const pair = generateKeyPairSync('ed25519')
  const publicKey = pair.publicKey.export({ type: 'spki', format: 'der' })
  const privateKey = pair.privateKey.export({ type: 'pkcs8', format: 'der' })
  const keyId = createHash('sha256').update(publicKey).digest('hex').slice(0, 8)
  return { keyId, publicKey, ...createTokenKeySealing(masterKeys).seal(keyId, publicKey, privateKey), signsFrom }
}

/** @param mayIssue whether the private key is needed, too. @throws as `TokenKeySealing.publicKeyOf` */
function openKey(row: store.TokenKeyRow, sealing: TokenKeySealing, mayIssue: boolean): KnownKey {
  const { keyId, signsFrom } = row
  const key = pem('PUBLIC KEY', sealing.publicKeyOf(row))
  const verify = createVerifier({ ...checks, key, algorithms: ['EdDSA'] })
  const known = { keyId, signsFromMs: signsFrom.getTime(), verify }
  const der = mayIssue ? sealing.privateKeyOf(row) : null
  if (der === null) return { ...known, sign: null }
  return { ...known, sign: createSigner({ key: pem('PRIVATE KEY', der), algorithm: 'EdDSA', kid: keyId }) }
}

const checks = { allowedIss: issuer, allowedAud: audience, cache: false, ignoreExpiration: true } as const

const pem = (label: string, der: Buffer): string =>
  `-----BEGIN ${label}-----\n${der.toString('base64')}\n-----END ${label}-----\n`

/** The functions that sign and verify tokens as version 0.2 did: with HMAC, and with keys derived from the master keys. */
function keysOfVersion02(masterKeys: readonly Buffer[]): { sign: SignTokens; verifiers: Map<string, VerifyToken> } {
  const keys = deriveKeys(masterKeys, 'tokens')
  const verifier = (key: Buffer) => createVerifier({ ...checks, key, algorithms: ['HS256'] })
  return {
    sign: createSigner({ key: keys[0].key, algorithm: 'HS256', kid: keys[0].id }),
    verifiers: new Map(keys.map(({ id, key }) => [id, verifier(key)])),
  }
}
