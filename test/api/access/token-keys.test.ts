/**
 * The key pairs that sign tokens: their rotation, the upgrade from version 0.2, and who can decrypt a private key
 * (contract/access.md, "Tokens").
 */
import assert from 'node:assert/strict'
import { generateKeyPairSync, randomBytes } from 'node:crypto'
import { after, before, beforeEach, suite, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { createSigner } from 'fast-jwt'
import {
  createTokenKeys,
  ensureTokenKey,
  findUnprovenKeys,
  makeTokenKey,
  openTokenKeys,
  resealTokenKeys,
  rotateTokenKey,
  type TokenKeys,
} from '../../../src/access/token-keys.ts'
import { findTokenKeys } from '../../../src/access/token-keys-store.ts'
import { createTokens } from '../../../src/access/tokens.ts'
import type { Caller } from '../../../src/caller.ts'
import { createClock } from '../../../src/clock.ts'
import { deriveKeys } from '../../../src/keys.ts'
import { createLogger } from '../../../src/log.ts'
import { applyDirectory } from '../../../src/partners/operations.ts'
import { createTestDatabase, type TestDatabase } from '../../support/database.ts'
import { until } from '../../support/esim.ts'
import { startPlatform, type TestPlatform } from '../../support/platform.ts'

const masterKeys = [randomBytes(32)]
const startMs = Date.parse('2026-11-21T10:00:00.000Z')
const bank: Caller = {
  type: 'bank',
  bankId: '019aa5a2-6d6c-7f3c-9a55-0f6d0a7c2b11',
  role: 'ADMIN',
  userType: 'gateway_user',
  subject: 'pk_0123456789',
}
const lifetimeMs = 7_200_000
const kidOf = (token: string): string =>
  JSON.parse(Buffer.from(token.split('.')[0] ?? '', 'base64url').toString()).kid as string

let scratch: TestDatabase
before(async () => {
  scratch = await createTestDatabase()
  const directory = 'merchants: [{ code: grocer, name: Grocer }]'
  await applyDirectory(
    { database: scratch.database, clock: createClock() },
    { directory, files: new Map(), dryRun: false },
  )
})
after(() => scratch.close())
beforeEach(() => scratch.database.execute('truncate token_keys, credentials cascade'))

/** Makes the token keys of a process that has just read them from the database. */
async function processWith(options: { masters?: Buffer[]; mayIssue?: boolean } = {}): Promise<TokenKeys> {
  const readKeys = () => findTokenKeys(scratch.database)
  const keys = createTokenKeys({
    readKeys,
    masterKeys: options.masters ?? masterKeys,
    mayIssue: options.mayIssue ?? true,
  })
  await keys.refresh()
  return keys
}
const issue = (keys: TokenKeys, atMs: number) => createTokens(keys, () => atMs).issue(bank).token
const accepts = (keys: TokenKeys, token: string, atMs: number) => createTokens(keys, () => atMs).read(token) !== null

test('several processes at their first start make one key, whose private half is sealed', async () => {
  await Promise.all(Array.from({ length: 5 }, () => ensureTokenKey(scratch.database, masterKeys, startMs)))
  const [row, ...others] = await findTokenKeys(scratch.database)
  assert.ok(row?.sealedPrivateKey)
  assert.equal(others.length, 0)
  assert.equal(row.sealedPrivateKey.indexOf(Buffer.from('302e020100300506032b6570', 'hex')), -1, 'no PKCS #8 in plain')
  const token = issue(await processWith(), startMs)
  assert.ok(accepts(await processWith({ mayIssue: false }), token, startMs))
})

test('a process that does not issue tokens opens no private key', async () => {
  await ensureTokenKey(scratch.database, masterKeys, startMs)
  const token = issue(await processWith(), startMs)
  await scratch.database.execute(`update token_keys set sealed_private_key = '\\x00'`)
  const reader = await processWith({ mayIssue: false })
  assert.ok(accepts(reader, token, startMs))
  assert.throws(() => issue(reader, startMs), { name: 'DomainError', code: 'unavailable' })
  for (const mayIssue of [true, false])
    await assert.rejects(processWith({ masters: [randomBytes(32)], mayIssue }), { name: 'SealingError' })
})

suite('a database of a version that did not seal public keys', () => {
  /** Makes the keys look as that version has left them. */
  const forgetProofs = () => scratch.database.execute('update token_keys set sealed_public_key = null')

  test('its keys prove themselves by their private keys, and get a proof at the next start', async () => {
    await ensureTokenKey(scratch.database, masterKeys, startMs)
    await forgetProofs()
    const token = issue(await processWith(), startMs)
    assert.ok(accepts(await processWith({ mayIssue: false }), token, startMs))
    await ensureTokenKey(scratch.database, masterKeys, startMs)
    const rows = await findTokenKeys(scratch.database)
    assert.deepEqual(
      rows.map(({ sealedPublicKey }) => sealedPublicKey !== null),
      [true],
    )
    assert.ok(accepts(await processWith({ mayIssue: false }), token, startMs))
  })

  test('a key that has just been retired is accepted until its tokens have expired', async () => {
    await ensureTokenKey(scratch.database, masterKeys, startMs)
    const token = issue(await processWith(), startMs + 60_000)
    await rotateTokenKey({ database: scratch.database, masterKeys }, startMs + 60_000)
    await rotateTokenKey({ database: scratch.database, masterKeys }, startMs + 61_000 + lifetimeMs)
    await forgetProofs()
    await ensureTokenKey(scratch.database, masterKeys, startMs)
    assert.ok(accepts(await processWith({ mayIssue: false }), token, startMs + lifetimeMs - 1))
  })

  test('a retired key without private key is of no use, and nobody is alarmed', async () => {
    await ensureTokenKey(scratch.database, masterKeys, startMs)
    for (const n of [1, 2, 3])
      await rotateTokenKey({ database: scratch.database, masterKeys }, startMs + n * 86_400_000)
    await forgetProofs()
    await ensureTokenKey(scratch.database, masterKeys, startMs)
    const nowMs = startMs + 4 * 86_400_000
    assert.deepEqual(await findUnprovenKeys(scratch.database, masterKeys, nowMs), { unproven: [], keys: 4 })
    const newKeys = [randomBytes(32), ...masterKeys]
    assert.deepEqual(await resealTokenKeys(scratch.database, newKeys, nowMs), [])
  })
})

suite('a key that somebody has written into the database', () => {
  let platform: TestPlatform
  const logged: string[] = []
  before(async () => {
    const stream = { write: (line: string) => void logged.push(line) }
    platform = await startPlatform({}, { logger: createLogger('warn', stream) })
  })
  after(() => platform.close())

  test('signs nothing that a running or a new process accepts; the log and the audit name it', async () => {
    const { database } = platform.platform
    const right = await platform.bankToken('alpha')
    const pair = generateKeyPairSync('ed25519')
    const key = pair.privateKey.export({ type: 'pkcs8', format: 'pem' }).toString()
    const publicKey = pair.publicKey.export({ type: 'spki', format: 'der' })
    const [header, claims = ''] = right.split('.')
    const forged = createSigner({ key, algorithm: 'EdDSA', kid: 'planted0' })(
      JSON.parse(Buffer.from(claims, 'base64url').toString()),
    )
    assert.ok(header)
    await database.execute(
      `insert into token_keys (key_id, public_key, created_at, signs_from) values ('planted0', $1, now(), now() - interval '1 s')`,
      [publicKey],
    )
    await database.execute(`notify perkline, 'access'`)
    await until('the log names it', () => logged.some(line => line.includes('planted0')), 10_000)
    const sibling = await platform.sibling()
    for (const at of [platform, sibling]) {
      assert.equal((await at.call('GET', '/esim/v1/operators', { token: forged })).status, 401)
      assert.equal((await at.call('GET', '/esim/v1/operators', { token: right })).status, 200)
      assert.equal((await at.call('GET', '/esim/v1/operators', { token: await at.bankToken('alpha') })).status, 200)
    }
    await sibling.close()
    const { checks } = (await platform.call('GET', '/admin/audit', { token: platform.config.operatorKey })).body
    const check = checks.find(({ code }: { code: string }) => code === 'token-keys')
    assert.deepEqual([check.ok, /planted0/.test(check.detail)], [false, true])
    // The public key of a row that the platform has made counts as little.
    await database.execute(`delete from token_keys where key_id = 'planted0'`)
    const [own] = await database.query<{ id: string }>('select key_id as id from token_keys')
    await database.execute('update token_keys set public_key = $1', [publicKey])
    const other = await platform.sibling()
    const swapped = createSigner({ key, algorithm: 'EdDSA', kid: own?.id ?? '' })(
      JSON.parse(Buffer.from(claims, 'base64url').toString()),
    )
    assert.equal((await other.call('GET', '/esim/v1/operators', { token: swapped })).status, 401)
    assert.equal((await other.call('GET', '/esim/v1/operators', { token: right })).status, 200)
    await other.close()
  })
})

test('rotation: the new key signs once every process has read it, and tokens of the old one live on until they expire', async () => {
  await ensureTokenKey(scratch.database, masterKeys, startMs)
  const [first] = await findTokenKeys(scratch.database)
  const unaware = await processWith()
  const rotatedMs = startMs + 60_000
  const { keyId, signsFrom } = await rotateTokenKey({ database: scratch.database, masterKeys }, rotatedMs)
  const aware = await processWith()
  const changesMs = signsFrom.getTime()
  assert.ok(changesMs >= rotatedMs + 10_000)
  assert.equal(kidOf(issue(aware, changesMs - 1)), first?.keyId)
  const last = issue(aware, changesMs - 1)
  assert.equal(kidOf(issue(aware, changesMs)), keyId)
  assert.ok(accepts(unaware, last, changesMs), 'nobody issues what another process does not know yet')
  assert.ok(accepts(aware, last, changesMs - 1 + lifetimeMs - 1_000))
  assert.equal(accepts(aware, issue(aware, changesMs), changesMs), true)
  // Once all of its tokens have expired, the old key is no longer accepted.
  const verifier = aware.verifier('EdDSA', first?.keyId ?? '', changesMs + lifetimeMs + 61_000)
  assert.equal(verifier, null)
})

test('a later rotation deletes private keys that no longer sign; public keys stay', async () => {
  await ensureTokenKey(scratch.database, masterKeys, startMs)
  const day = 86_400_000
  for (const n of [1, 2, 3]) await rotateTokenKey({ database: scratch.database, masterKeys }, startMs + n * day)
  const rows = await findTokenKeys(scratch.database)
  assert.deepEqual(
    rows.map(({ sealedPrivateKey }) => sealedPrivateKey !== null),
    [false, false, true, true],
  )
  assert.equal(kidOf(issue(await processWith(), startMs + 4 * day)), rows.at(-1)?.keyId)
})

test('rotations at once: each makes a key of its own, one after the other', async () => {
  await ensureTokenKey(scratch.database, masterKeys, startMs)
  const made = await Promise.all(
    Array.from({ length: 5 }, () => rotateTokenKey({ database: scratch.database, masterKeys }, startMs)),
  )
  assert.equal(new Set(made.map(({ signsFrom }) => signsFrom.getTime())).size, 5)
})

test('sealed anew under another master key, the old one can be taken away and live tokens go on', async () => {
  await ensureTokenKey(scratch.database, masterKeys, startMs)
  const token = issue(await processWith(), startMs)
  const newer = randomBytes(32)
  await resealTokenKeys(scratch.database, [newer, ...masterKeys], startMs)
  const alone = await processWith({ masters: [newer] })
  assert.ok(accepts(alone, token, startMs))
  assert.ok(accepts(alone, issue(alone, startMs), startMs))
  await assert.rejects(processWith(), { name: 'SealingError' })
})

suite('a change of the master key by a version that does not know sealed public keys', () => {
  /** That version encrypts only the private keys again. @returns the new master key */
  async function resealPrivateKeys(): Promise<Buffer> {
    const newer = randomBytes(32)
    const before = await findTokenKeys(scratch.database)
    await resealTokenKeys(scratch.database, [newer, ...masterKeys], startMs)
    for (const { keyId, sealedPublicKey } of before)
      await scratch.database.execute('update token_keys set sealed_public_key = $2 where key_id = $1', [
        keyId,
        sealedPublicKey,
      ])
    return newer
  }

  test('the private keys prove their pairs: live tokens go on, and new ones are issued', async () => {
    await ensureTokenKey(scratch.database, masterKeys, startMs)
    const token = issue(await processWith(), startMs)
    const newer = await resealPrivateKeys()
    assert.ok(accepts(await processWith({ masters: [newer], mayIssue: false }), token, startMs))
    const alone = await processWith({ masters: [newer] })
    assert.ok(accepts(alone, issue(alone, startMs), startMs))
    assert.deepEqual(await findUnprovenKeys(scratch.database, [newer], startMs), { unproven: [], keys: 1 })
    assert.equal(await openTokenKeys(scratch.database, [newer], startMs), 1)
  })

  test('the next start encrypts the public keys, too', async () => {
    await ensureTokenKey(scratch.database, masterKeys, startMs)
    const token = issue(await processWith(), startMs)
    const newer = await resealPrivateKeys()
    await ensureTokenKey(scratch.database, [newer], startMs)
    await scratch.database.execute('update token_keys set sealed_private_key = null')
    assert.ok(accepts(await processWith({ masters: [newer], mayIssue: false }), token, startMs))
  })

  test('a key whose tokens have expired is of no use, and nothing complains of it', async () => {
    await ensureTokenKey(scratch.database, masterKeys, startMs)
    for (const n of [1, 2, 3])
      await rotateTokenKey({ database: scratch.database, masterKeys }, startMs + n * 86_400_000)
    const newer = await resealPrivateKeys()
    const laterMs = startMs + 4 * 86_400_000
    await ensureTokenKey(scratch.database, [newer], startMs)
    assert.deepEqual(await resealTokenKeys(scratch.database, [newer], laterMs), [])
    assert.equal(await openTokenKeys(scratch.database, [newer], laterMs), 2)
    const alone = await processWith({ masters: [newer] })
    assert.ok(accepts(alone, issue(alone, laterMs), laterMs))
  })

  test('through the front door; a rotation names what it cannot decrypt, and goes on', async t => {
    const platform = await startPlatform({}, { logger: createLogger('silent') })
    t.after(() => platform.close())
    const { database } = platform.platform
    const operator = { token: platform.config.operatorKey }
    const token = await platform.bankToken('alpha')
    const [before] = await findTokenKeys(database)
    assert.ok(before)
    await database.execute(
      `insert into token_keys (key_id, public_key, sealed_public_key, sealed_private_key, created_at, signs_from)
       values ('planted1', '', $1, $1, now(), now() + interval '1 s')`,
      [randomBytes(80)],
    )
    const newer = randomBytes(32)
    const setting = (...keys: Buffer[]) => ({ MASTER_KEY: keys.map(key => key.toString('base64')).join(',') })
    const both = await platform.sibling(setting(newer, ...platform.config.masterKeys))
    t.after(() => both.close())
    const rotate = async () => {
      const { text } = await both.call('POST', '/admin/keys/rotate', operator)
      return JSON.parse(text.trim().split('\n').at(-1) ?? '') as { error?: string; result?: object }
    }
    const { error = '' } = await rotate()
    assert.match(error, /planted1/)
    assert.match(error, /add the former master key to MASTER_KEY/)
    await database.execute(`delete from token_keys where key_id = 'planted1'`)
    assert.ok((await rotate()).result)
    await database.execute('update token_keys set sealed_public_key = $2 where key_id = $1', [
      before.keyId,
      before.sealedPublicKey,
    ])
    const alone = await platform.sibling(setting(newer))
    t.after(() => alone.close())
    assert.equal((await alone.call('GET', '/esim/v1/operators', { token })).status, 200)
    assert.equal((await alone.call('GET', '/esim/v1/operators', { token: await alone.bankToken('alpha') })).status, 200)
  })
})

test('a process that should issue tokens is not ready while it knows no key to sign with', async t => {
  const platform = await startPlatform({}, { logger: createLogger('silent') })
  t.after(() => platform.close())
  const { database } = platform.platform
  const operator = { token: platform.config.operatorKey }
  assert.equal((await platform.call('GET', '/health/ready')).status, 200)
  await database.execute('update token_keys set sealed_private_key = null')
  const sibling = await platform.sibling()
  t.after(() => sibling.close())
  const { status, body } = await sibling.call('GET', '/health/ready')
  assert.deepEqual([status, body.reason], [503, 'no key to sign tokens with'])
  assert.equal((await platform.call('GET', '/health/ready')).status, 200, 'it has read the key before')
  assert.equal((await sibling.call('POST', '/admin/keys/rotate-tokens', operator)).status, 200)
  await until('it is ready', async () => (await sibling.call('GET', '/health/ready')).status === 200, 20_000)
})

suite('a database of version 0.2', () => {
  const [key] = deriveKeys(masterKeys, 'tokens')
  const old = (iatMs: number) =>
    createSigner({ key: key.key, algorithm: 'HS256', kid: key.id })({
      iss: 'perkline',
      aud: 'perkline-api',
      sub: bank.subject,
      iat: iatMs / 1000,
      exp: (iatMs + lifetimeMs) / 1000,
      jti: 'x',
      accountType: 'bank',
      accountId: '019aa5a2-6d6c-7f3c-9a55-0f6d0a7c2b11',
      role: 'ADMIN',
      userType: 'gateway_user',
    })
  beforeEach(async () => {
    await scratch.database.execute(
      `insert into credentials (client_id, merchant_id, role, label, secret_hash, created_at)
       select 'pk_0123456789', merchant_id, 'gateway', '', 'x', now() from merchants limit 1`,
    )
    await ensureTokenKey(scratch.database, masterKeys, startMs)
  })

  test('its processes can be replaced one by one: for 15 minutes new ones issue tokens that old ones read', async () => {
    const keys = await processWith()
    assert.equal(kidOf(issue(keys, startMs + 14 * 60_000)), key.id)
    assert.notEqual(kidOf(issue(keys, startMs + 15 * 60_000)), key.id)
  })

  test('its tokens are read until they expire, and not for longer', async () => {
    const keys = await processWith({ mayIssue: false })
    assert.ok(accepts(keys, old(startMs), startMs + lifetimeMs - 1_000))
    const later = startMs + 15 * 60_000 + lifetimeMs + 61_000
    assert.equal(accepts(keys, old(later), later), false)
  })

  test('a rotation meanwhile changes nothing of that', async () => {
    await rotateTokenKey({ database: scratch.database, masterKeys }, startMs + 60_000)
    const keys = await processWith()
    assert.equal(kidOf(issue(keys, startMs + 14 * 60_000)), key.id)
    assert.ok(accepts(keys, old(startMs), startMs + lifetimeMs - 1_000))
  })
})

test('a database that nobody has used signs with its key at once, and reads no HMAC tokens after two hours', async () => {
  await ensureTokenKey(scratch.database, masterKeys, startMs)
  const [row] = await findTokenKeys(scratch.database)
  assert.equal(kidOf(issue(await processWith(), startMs)), row?.keyId)
  assert.equal(makeTokenKey(masterKeys, new Date(0)).keyId === row?.keyId, false)
})

suite('a secret that has ended', () => {
  let platform: TestPlatform
  let sibling: TestPlatform
  before(async () => {
    platform = await startPlatform()
    sibling = await platform.sibling()
  })
  after(async () => {
    await sibling.close()
    await platform.close()
  })

  const admin = (path: string, body: object) =>
    platform.call('POST', `/admin${path}`, { token: platform.config.operatorKey, body })
  const tokenFor = async (given: { clientId: string; secret: string }) =>
    (await platform.call('POST', '/getToken/auth', { body: { clientId: given.clientId, secret: given.secret } })).body
      .access_token as string
  const works = async (token: string, at = platform) =>
    (await at.call('GET', '/esim/v1/operators', { token })).status === 200
  const lost = async (token: string) => {
    const startedMs = performance.now()
    for (const at of [platform, sibling])
      while (await works(token, at)) {
        assert.ok(performance.now() - startedMs < 10_000, 'the token outlives its secret by more than 10 s')
        await sleep(20)
      }
  }

  test('ends its tokens within 10 s; tokens of the new secret keep working', async () => {
    const { body: first } = await admin('/credentials', { bank: 'alpha', role: 'ADMIN' })
    const token = await tokenFor(first)
    const { body: second } = await admin(`/credentials/${first.clientId}/rotate`, { overlap: 'PT0S' })
    const fresh = await tokenFor(second)
    await lost(token)
    for (const at of [platform, sibling]) assert.ok(await works(fresh, at))
  })

  test('stays good until its overlap ends, and a second rotation ends the oldest at once', async () => {
    const { body: first } = await admin('/credentials', { bank: 'alpha', role: 'ADMIN' })
    const oldest = await tokenFor(first)
    const { body: second } = await admin(`/credentials/${first.clientId}/rotate`, { overlap: 'PT24H' })
    const middle = await tokenFor(second)
    assert.ok((await works(oldest)) && (await works(middle)))
    await admin(`/credentials/${first.clientId}/rotate`, { overlap: 'PT24H' })
    await lost(oldest)
    for (const at of [platform, sibling]) assert.ok(await works(middle, at))
  })
})
