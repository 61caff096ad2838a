import assert from 'node:assert/strict'
import { createHmac, createPrivateKey, generateKeyPairSync, randomBytes, sign } from 'node:crypto'
import { test } from 'node:test'
import { createSigner } from 'fast-jwt'
import { createTokenKeys, makeTokenKey, type TokenKeys, tokenLifetimeSeconds } from '../../src/access/token-keys.ts'
import { createTokens, type Tokens, toleranceMs } from '../../src/access/tokens.ts'
import type { Caller } from '../../src/caller.ts'
import { deriveKeys } from '../../src/keys.ts'
import { createSealer } from '../../src/sealing.ts'

const master = randomBytes(32)
const nowMs = Date.parse('2026-11-21T10:00:00.000Z')
const nowSeconds = nowMs / 1000
const made = makeTokenKey([master], new Date(0))
const key = {
  id: made.keyId,
  private: createPrivateKey({
    key: createSealer([master], 'token-keys').open(made.sealedPrivateKey, Buffer.from(made.keyId)),
    type: 'pkcs8',
    format: 'der',
  }),
}
const known = createTokenKeys({ readKeys: async () => [made], masterKeys: [master], mayIssue: true })
await known.refresh()

const bank: Caller = {
  type: 'bank',
  bankId: '019aa5a2-6d6c-7f3c-9a55-0f6d0a7c2b11',
  role: 'ADMIN',
  userType: 'gateway_user',
  subject: 'pk_0123456789',
}
const merchant: Caller = {
  type: 'retailer',
  merchantId: '019aa5a2-6d6c-7f3c-9a55-0f6d0a7c2b12',
  role: 'gateway',
  userType: 'gateway_user',
  subject: 'pk_9876543210',
}
const staff: Caller = { type: 'platform', role: 'viewer', userType: 'portal_user', subject: 'someone' }

/** Makes a new reader of tokens. Its cache of verified tokens is empty. */
const verifier = (atMs = nowMs, keys: TokenKeys = known) => createTokens(keys, () => atMs)
const callerOf = (tokens: Tokens, token: string) => tokens.read(token)?.caller ?? null
const verify = (token: string, atMs?: number) => callerOf(verifier(atMs), token)
const issued = verifier().issue(bank).token

type Json = Record<string, unknown>
const encode = (value: unknown) => Buffer.from(JSON.stringify(value)).toString('base64url')
const decode = (part: string) => JSON.parse(Buffer.from(part, 'base64url').toString()) as Json
const partsOf = (token: string): [string, string, string] => {
  const [header = '', claims = '', signature = ''] = token.split('.')
  return [header, claims, signature]
}
const ownHeader = decode(partsOf(issued)[0])
const ownClaims = decode(partsOf(issued)[1])

/** A token with a valid signature of ours over any header and claims. */
function signed(claims: Json, header: Json = ownHeader): string {
  const content = `${encode(header)}.${encode(claims)}`
  return `${content}.${sign(null, Buffer.from(content), key.private).toString('base64url')}`
}
const without = (name: string) => Object.fromEntries(Object.entries(ownClaims).filter(([claim]) => claim !== name))

test('a token says for whom it acts, and gives that caller back', () => {
  for (const caller of [bank, merchant, staff]) assert.deepEqual(verify(verifier().issue(caller).token), caller)
  assert.deepEqual(verify(signed(ownClaims)), bank, 'the tests forge with the right key')
})

test('a token names type and id of the account, role, user type, issuer, audience, times and key', () => {
  assert.deepEqual(ownHeader, { alg: 'EdDSA', typ: 'JWT', kid: key.id })
  const { jti, ...claims } = ownClaims
  assert.equal(typeof jti, 'string')
  assert.deepEqual(claims, {
    iss: 'perkline',
    aud: 'perkline-api',
    sub: bank.subject,
    iat: nowSeconds,
    exp: nowSeconds + 7200,
    accountType: 'bank',
    accountId: bank.bankId,
    role: 'ADMIN',
    userType: 'gateway_user',
  })
})

test('every token is a fresh one, within one second and between processes too', () => {
  const [one, other] = [verifier(), verifier()]
  const tokens = [one, other, one, other, one].map(tokens => tokens.issue(bank).token)
  assert.equal(new Set(tokens).size, tokens.length)
})

test('a token lives for 7200 seconds, and 5 more for clocks that differ', () => {
  const end = nowMs + tokenLifetimeSeconds * 1000 + toleranceMs
  assert.equal(toleranceMs, 5_000)
  assert.deepEqual(verify(issued, end - 1), bank)
  assert.equal(verify(issued, end), null)
  let now = nowMs
  const remembering = createTokens(known, () => now)
  assert.deepEqual(callerOf(remembering, issued), bank)
  now = end - 1
  assert.deepEqual(callerOf(remembering, issued), bank)
  now = end
  assert.equal(remembering.read(issued), null, 'also one that was verified before')
  assert.equal(remembering.read(issued), null)
})

test('alg none is refused, in any spelling, with and without a signature', () => {
  const [, claims, signature] = partsOf(issued)
  for (const alg of ['none', 'None', 'NONE', 'nOnE', ''])
    for (const header of [
      { ...ownHeader, alg },
      { alg, typ: 'JWT' },
    ])
      for (const end of ['', signature]) assert.equal(verify(`${encode(header)}.${claims}.${end}`), null, alg)
  const { alg: _, ...noAlg } = ownHeader
  assert.equal(verify(signed(ownClaims, noAlg)), null)
})

test('another algorithm is refused, even with our key', () => {
  // Every process knows the public key, so it must not be accepted as an HMAC secret.
  const pem = `-----BEGIN PUBLIC KEY-----\n${made.publicKey.toString('base64')}\n-----END PUBLIC KEY-----\n`
  for (const secret of [made.publicKey, pem])
    for (const algorithm of ['HS256', 'HS384', 'HS512'] as const) {
      const token = createSigner({ key: secret, algorithm, kid: key.id })(ownClaims)
      assert.equal(verify(token), null, algorithm)
    }
  for (const alg of ['HS256', 'HS512', 'eddsa', 'Ed25519', ['EdDSA']])
    assert.equal(verify(signed(ownClaims, { ...ownHeader, alg })), null, JSON.stringify(alg))
})

test('a token signed with a public key pair is refused', () => {
  const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  const pem = privateKey.export({ type: 'pkcs8', format: 'pem' }).toString()
  const token = createSigner({ key: pem, algorithm: 'ES256', kid: key.id })(ownClaims)
  assert.equal(verify(token), null)
})

test('a header that brings or points to its own key is refused', () => {
  const jwk = { kty: 'oct', k: Buffer.from('attacker').toString('base64url') }
  for (const more of [
    { jwk },
    { jku: 'https://evil.example/keys' },
    { x5u: 'https://evil.example' },
    { x5c: ['MII='] },
  ])
    assert.equal(verify(signed(ownClaims, { ...ownHeader, ...more })), null, JSON.stringify(more))
  assert.equal(verify(signed(ownClaims, { ...ownHeader, crit: ['exp'] })), null)
})

test('a key id that is unknown, missing or odd is refused', () => {
  const strange = ['', '00000000', key.id.toUpperCase(), `${key.id} `, '../../etc/passwd', "' or 1=1", '__proto__']
  for (const kid of [...strange.filter(kid => kid !== key.id), 1, null, [key.id], { id: key.id }])
    assert.equal(verify(signed(ownClaims, { ...ownHeader, kid })), null, JSON.stringify(kid))
  const { kid: _, ...noKid } = ownHeader
  assert.equal(verify(signed(ownClaims, noKid)), null)
})

test('a token under a key of another purpose or another platform is refused', () => {
  const otherPurpose = deriveKeys([master], 'profiles')[0]
  for (const secret of [master, otherPurpose.key, randomBytes(32), Buffer.from('secret'), Buffer.from(key.id)]) {
    const content = `${encode(ownHeader)}.${encode(ownClaims)}`
    assert.equal(verify(`${content}.${createHmac('sha256', secret).update(content).digest('base64url')}`), null)
  }
  const { privateKey } = generateKeyPairSync('ed25519')
  const content = `${encode(ownHeader)}.${encode(ownClaims)}`
  assert.equal(verify(`${content}.${sign(null, Buffer.from(content), privateKey).toString('base64url')}`), null)
})

test('an altered header, claim or signature is refused, whichever character it is', () => {
  const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_'
  const tokens = verifier()
  for (let at = 0; at < issued.length; at++) {
    if (issued[at] === '.') continue
    const next = alphabet[(alphabet.indexOf(issued[at] ?? '') + 1) % alphabet.length]
    assert.equal(tokens.read(issued.slice(0, at) + next + issued.slice(at + 1)), null, `character ${at}`)
  }
})

test('a claim that was changed without the key is refused', () => {
  const [header, , signature] = partsOf(issued)
  const changes: Json[] = [{ accountId: merchant.merchantId }, { exp: nowSeconds + 7199 }, { role: 'EDITOR' }]
  for (const change of changes)
    assert.equal(verify(`${header}.${encode({ ...ownClaims, ...change })}.${signature}`), null, JSON.stringify(change))
  const [, ofMerchant] = partsOf(verifier().issue(merchant).token)
  assert.equal(verify(`${header}.${ofMerchant}.${signature}`), null)
})

test('a known token’s signature makes no other token known', () => {
  const tokens = verifier()
  assert.notEqual(tokens.read(issued), null)
  const [header, , signature] = partsOf(issued)
  const ofMerchant = encode({ ...ownClaims, accountId: merchant.merchantId })
  for (const forged of [`${header}.${ofMerchant}.${signature}`, `.${signature}`, signature])
    assert.equal(tokens.read(forged), null, forged)
  assert.notEqual(tokens.read(issued), null)
})

test('the spare bits of the last character of a part must be zero', () => {
  const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_'
  const last = issued.at(-1) ?? ''
  // The signature has 64 bytes. In base64url these are 86 characters, and only 2 of the last character's 6 bits count.
  // So 15 other last characters stand for the same bytes.
  const twins = [...alphabet].filter(
    char => char !== last && alphabet.indexOf(char) >> 4 === alphabet.indexOf(last) >> 4,
  )
  assert.equal(twins.length, 15)
  for (const twin of twins) {
    const forged = issued.slice(0, -1) + twin
    assert.deepEqual(Buffer.from(forged.split('.')[2] ?? '', 'base64url').length, 64)
    assert.equal(verify(forged), null, twin)
  }
})

test('padding, the other base64 alphabet, spaces and cut or extended tokens are refused', () => {
  const [header, claims, signature] = partsOf(issued)
  const forged = [
    `${issued}=`,
    `${issued}==`,
    `${header}=.${claims}.${signature}`,
    `${header}.${claims}==.${signature}`,
    issued.replaceAll('-', '+').replaceAll('_', '/').concat('='),
    `${issued} `,
    ` ${issued}`,
    `${issued}\n`,
    `${issued}.`,
    `.${issued}`,
    `${issued}.${signature}`,
    `${header}.${claims}`,
    `${header}.${claims}.`,
    `${header}..${signature}`,
    `.${claims}.${signature}`,
    '..',
    '',
    'null',
    issued.slice(0, -1),
    `${issued}A`,
    `${issued}${'A'.repeat(4096)}`,
    `${header}.${claims}.${signature.toUpperCase()}`,
  ]
  for (const token of forged) assert.equal(verify(token), null, token.slice(0, 80))
})

test('a foreign, missing or odd issuer or audience is refused', () => {
  for (const iss of ['', 'Perkline', 'perkline2', 'https://evil.example', null, 1, ['perkline'], { a: 'perkline' }])
    assert.equal(verify(signed({ ...ownClaims, iss })), null, `iss ${JSON.stringify(iss)}`)
  for (const aud of ['', 'perkline', 'perkline-api2', null, 1, ['perkline-api'], ['perkline-api', 'other'], {}])
    assert.equal(verify(signed({ ...ownClaims, aud })), null, `aud ${JSON.stringify(aud)}`)
  assert.equal(verify(signed(without('iss'))), null)
  assert.equal(verify(signed(without('aud'))), null)
})

test('a lifetime over 7200 seconds, without end, or with odd times is refused', () => {
  const exp = nowSeconds + 7200
  const times: Json[] = [
    { exp: exp + 1 },
    { exp: nowSeconds + 10 * 365 * 86_400 },
    { exp: 1e300 },
    { exp: String(exp) },
    { exp: exp + 0.5 },
    { exp: null },
    { exp: [exp] },
    { exp: nowSeconds, iat: nowSeconds },
    { exp: nowSeconds + 100, iat: nowSeconds + 200 },
    { iat: String(nowSeconds) },
    { iat: nowSeconds + 0.5 },
    { iat: null },
    { iat: 0 },
    { iat: -1, exp: 7199 },
  ]
  for (const change of times) assert.equal(verify(signed({ ...ownClaims, ...change })), null, JSON.stringify(change))
  assert.equal(verify(signed(without('exp'))), null)
  assert.equal(verify(signed(without('iat'))), null)
})

test('a token from the future is refused, but for 5 seconds of clocks that differ', () => {
  const from = (iat: number) => signed({ ...ownClaims, iat, exp: iat + 7200 })
  assert.deepEqual(verify(from(nowSeconds + 5)), bank)
  assert.equal(verify(from(nowSeconds + 6)), null)
  assert.equal(verify(from(nowSeconds + 86_400)), null)
})

test('a subject, account or role that is none of ours is refused', () => {
  const changes: Json[] = [
    { sub: [bank.subject] },
    { sub: null },
    { sub: 7 },
    { sub: { id: bank.subject } },
    { sub: '' },
    { accountType: 'Bank' },
    { accountType: 'platform' },
    { accountType: 'retailer' },
    { accountType: ['bank'] },
    { accountId: null },
    { accountId: '' },
    { accountId: [bank.bankId] },
    { accountId: { id: bank.bankId } },
    { role: 'gateway' },
    { role: 'admin_user' },
    { role: 'admin' },
    { role: 'SUPERADMIN' },
    { role: ['ADMIN'] },
    { role: null },
    { userType: 'root' },
    { userType: null },
    { userType: ['gateway_user'] },
  ]
  for (const change of changes) assert.equal(verify(signed({ ...ownClaims, ...change })), null, JSON.stringify(change))
  for (const name of ['sub', 'accountType', 'accountId', 'role', 'userType'])
    assert.equal(verify(signed(without(name))), null, name)
})

test('a signed text that is no object, or no JSON, is refused', () => {
  for (const claims of ['null', '[]', '"text"', '1', '', '{', '{"iss":"perkline"', '\0']) {
    const content = `${encode(ownHeader)}.${Buffer.from(claims).toString('base64url')}`
    const token = `${content}.${sign(null, Buffer.from(content), key.private).toString('base64url')}`
    assert.equal(verify(token), null, claims)
  }
})
