import assert from 'node:assert/strict'
import { createCipheriv, randomBytes } from 'node:crypto'
import { test } from 'node:test'
import { createSealing, loadIndexKey, resealIndexKey } from '../../../src/esim/stock/sealing.ts'
import { deriveKeys } from '../../../src/keys.ts'
import { createTestDatabase } from '../../support/database.ts'

const master = randomBytes(32)
const indexKey = randomBytes(32)
const secrets = { iccid: '8938001000000000009', pin1: '0042', activationCode: 'LPA:1$smdp.operator.example$7F3A-0B1C' }
const sealing = createSealing([master], indexKey)
const iccidHash = sealing.hashIccid(secrets.iccid)
const row = { profileId: 7, tariffId: 3, iccidHash }
const sealed = sealing.seal(secrets, row)

test('what was sealed opens to the same, and shows nothing of it before', () => {
  assert.deepEqual(sealing.open(sealed, row), secrets)
  for (const text of Object.values(secrets)) assert.equal(sealed.indexOf(text), -1)
})

test('the same secrets are never sealed to the same bytes twice', () => {
  const seen = new Set(Array.from({ length: 100 }, () => sealing.seal(secrets, row).toString('hex')))
  assert.equal(seen.size, 100)
})

test('the layout is key id, nonce, tag, ciphertext', () => {
  assert.equal(sealed.toString('hex', 0, 4), deriveKeys([master], 'bound-profiles')[0].id)
  const plain = `${secrets.iccid}\n${secrets.pin1}\n${secrets.activationCode}`
  assert.equal(sealed.length, 4 + 12 + 16 + plain.length)
})

test('one altered bit, anywhere, and it does not open', () => {
  for (let at = 0; at < sealed.length; at++) {
    const altered = Buffer.from(sealed)
    altered[at] = (altered[at] ?? 0) ^ 1
    assert.throws(() => sealing.open(altered, row), `byte ${at}`)
  }
})

test('bytes that were cut short or extended do not open', () => {
  for (const length of [0, 3, 4, 16, 31, 32, sealed.length - 1])
    assert.throws(() => sealing.open(sealed.subarray(0, length), row), `${length} bytes`)
  assert.throws(() => sealing.open(Buffer.concat([sealed, Buffer.of(0)]), row))
})

test('a tag that was cut short is not taken for a short tag', () => {
  const shortTag = Buffer.concat([sealed.subarray(0, 20), sealed.subarray(32)])
  assert.throws(() => sealing.open(shortTag, row))
})

test('what belongs to one profile does not open for another, nor in another tariff', () => {
  assert.throws(() => sealing.open(sealed, { ...row, iccidHash: sealing.hashIccid('8938001000000000017') }))
  assert.throws(() => sealing.open(sealed, { ...row, profileId: 8 }))
  assert.throws(() => sealing.open(sealed, { ...row, tariffId: 4 }))
})

test('what version 0.2 sealed, bound to the hash alone, opens, and is to be sealed anew', () => {
  const old = sealedByVersion02([master])
  assert.deepEqual(sealing.open(old, row), secrets)
  assert.equal(sealing.isCurrent(old), false)
  assert.throws(() => sealing.open(old, { ...row, iccidHash: sealing.hashIccid('8938001000000000017') }))
})

/** Seals a profile as version 0.2 did: with another key, and with only the ICCID hash as additional data. */
function sealedByVersion02(masterKeys: Buffer[]): Buffer {
  const { id, key } = deriveKeys(masterKeys, 'profiles')[0]
  const nonce = randomBytes(12)
  const cipher = createCipheriv('aes-256-gcm', key, nonce).setAAD(iccidHash)
  const plain = `${secrets.iccid}\n${secrets.pin1}\n${secrets.activationCode}`
  const encrypted = Buffer.concat([cipher.update(plain), cipher.final()])
  return Buffer.concat([Buffer.from(id, 'hex'), nonce, cipher.getAuthTag(), encrypted])
}

test('another master key does not open it, and says what to do without showing anything', () => {
  const other = createSealing([randomBytes(32)], indexKey)
  assert.throws(() => other.open(sealed, row), { name: 'SealingError', message: /MASTER_KEY/ })
})

test('several master keys: the first seals, all of them open, and what is not of the first is told', () => {
  const newer = randomBytes(32)
  const rotating = createSealing([newer, master], indexKey)
  assert.deepEqual(rotating.open(sealed, row), secrets)
  assert.deepEqual([sealing.isCurrent(sealed), rotating.isCurrent(sealed)], [true, false])
  const fresh = rotating.seal(secrets, row)
  assert.ok(rotating.isCurrent(fresh))
  assert.deepEqual(createSealing([newer], indexKey).open(fresh, row), secrets)
  assert.throws(() => sealing.open(fresh, row), { name: 'SealingError' })
})

test('the hash of an ICCID needs the key of the index and not the master key', () => {
  assert.deepEqual(createSealing([randomBytes(32)], indexKey).hashIccid(secrets.iccid), iccidHash)
  assert.notDeepEqual(createSealing([master], randomBytes(32)).hashIccid(secrets.iccid), iccidHash)
  assert.equal(iccidHash.length, 32)
})

test('keys for different purposes have nothing in common', () => {
  const derived = ['tokens', 'profiles', 'sealed-keys'].map(purpose => deriveKeys([master], purpose)[0])
  assert.equal(new Set(derived.map(({ key }) => key.toString('hex'))).size, 3)
  assert.equal(new Set(derived.map(({ id }) => id)).size, 3)
  assert.ok(derived.every(({ key }) => !key.equals(master)))
})

test('the key of the index is made once for a database, outlives a rotation, and is kept sealed', async t => {
  const test = await createTestDatabase()
  t.after(() => test.close())
  const { database } = test
  const [first, ...others] = await Promise.all(Array.from({ length: 4 }, () => loadIndexKey(database, [master])))
  assert.equal(first?.length, 32)
  for (const other of others) assert.deepEqual(other, first, 'several processes at their first start')
  const [row] = await database.query<{ sealed: Buffer }>("select sealed from sealed_keys where purpose = 'iccid-index'")
  assert.equal(row?.sealed.indexOf(first ?? ''), -1)

  const newer = randomBytes(32)
  await assert.rejects(loadIndexKey(database, [newer]), { name: 'SealingError' })
  assert.deepEqual(await loadIndexKey(database, [newer, master]), first)
  await assert.rejects(loadIndexKey(database, [newer]), { name: 'SealingError' }, 'reading alone changes nothing')
  await resealIndexKey(database, [newer, master])
  assert.deepEqual(await loadIndexKey(database, [newer]), first)
  await assert.rejects(loadIndexKey(database, [master]), { name: 'SealingError' })
})
