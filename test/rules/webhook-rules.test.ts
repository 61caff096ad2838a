/** Which addresses endpoints may have, when deliveries are tried, and that openssl and the library of Standard Webhooks agree with our signatures. */
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { createSecretKey } from 'node:crypto'
import { test } from 'node:test'
import { Webhook, WebhookVerificationError } from 'standardwebhooks'
import { AddressRefusedError, createAddressRules, literalOf, resolveAllowed } from '../../src/webhooks/addresses.ts'
import { probeWait, retryAfterMs, waitAfter, waits } from '../../src/webhooks/schedule.ts'
import { makeSecret, shownSecret, signatures } from '../../src/webhooks/signing.ts'
import { urlError } from '../../src/webhooks/urls.ts'

const rules = createAddressRules([])
const refused = [
  ...['0.0.0.0', '10.0.0.1', '10.255.255.255', '100.64.0.1', '100.127.255.255', '127.0.0.1', '127.255.255.254'],
  ...['169.254.169.254', '172.16.0.1', '172.31.255.255', '192.0.0.1', '192.0.2.1', '192.88.99.1', '192.168.0.1'],
  ...[
    '198.18.0.1',
    '198.19.255.255',
    '198.51.100.1',
    '203.0.113.1',
    '224.0.0.1',
    '239.1.1.1',
    '240.0.0.1',
    '255.255.255.255',
  ],
  ...[
    '::',
    '::1',
    '::127.0.0.1',
    '::ffff:127.0.0.1',
    '::ffff:8.8.8.8',
    '64:ff9b::808:808',
    '64:ff9b:1::1',
    'fc00::1',
    'fd00::1',
  ],
  ...[
    'fe80::1',
    'fe80::1%eth0',
    'fec0::1',
    'ff02::1',
    '2001::1',
    '2001:1ff:ffff::1',
    '2001:db8::1',
    '2002:7f00:1::',
    '3fff::1',
    '4000::1',
  ],
]
const allowed = ['1.1.1.1', '8.8.8.8', '100.63.255.255', '172.32.0.1', '192.0.1.1', '198.20.0.1', '223.255.255.255']
const allowedIPv6 = ['2001:200::1', '2001:4860:4860::8888', '2606:4700::1111', '2a00:1450::1', '3ffe::1']

test('only what is globally reachable may be called', async () => {
  for (const address of refused) assert.equal(rules.isAllowed(address), false, address)
  for (const address of [...allowed, ...allowedIPv6]) assert.equal(rules.isAllowed(address), true, address)
  await assert.rejects(resolveAllowed(rules, 'localhost'), AddressRefusedError)
  await assert.rejects(resolveAllowed(rules, '[::1]'), AddressRefusedError)
  const own = createAddressRules(['10.1.0.0/16', 'fd00::/8'])
  assert.deepEqual(
    ['10.1.2.3', '10.2.0.1', 'fd12::1', '::ffff:10.1.2.3'].map(address => own.isAllowed(address)),
    [true, false, true, false],
  )
})

test('odd spellings are what the URL parser makes of them', () => {
  for (const host of ['2130706433', '0x7f000001', '0177.0.0.1', '127.1', '0', '[::ffff:7f00:1]', '①②⑦.0.0.1'])
    assert.equal(rules.isAllowed(literalOf(new URL(`https://${host}/`).hostname) ?? ''), false, host)
})

test('URLs of endpoints', () => {
  const live = { addresses: rules, ports: [443, 8443], isSandbox: false }
  for (const url of [
    'https://x.example/',
    'https://x.example:8443/a?b=c',
    'https://8.8.8.8/',
    'https://x.example/@a',
    'https://x.example?a=@',
  ])
    assert.equal(urlError(live, url), null, url)
  for (const url of [
    'http://x.example/',
    'https://x.example:80/',
    'https://a@x.example/',
    'https://@x.example/',
    'https://:@x.example/',
    'https://@x.example?b=c',
    'https://x.example/#',
    'https://x.example/a b',
    'https://x.example/\r\nx: y',
    '\thttps://x.example/',
    'https://x.example/\u001b[2J',
    'https://x.example\\@y.example/',
    'https://x.example/a\\b',
    'https://x.example/\u202eb',
    'https://x.example/\u200bb',
    'https://x.example/?a=\\',
    'https://127.1/',
    'x',
  ])
    assert.notEqual(urlError(live, url), null, url)
  const sandbox = { ...live, isSandbox: true }
  const label = 'a'.repeat(63)
  for (const url of [
    'http://x.example:8080/',
    'http://x.example./',
    `https://${label}.example/`,
    'https://бюро.example/',
  ])
    assert.equal(urlError(sandbox, url), null, url)
})

test('an address that can never be called is refused, in a sandbox, too', () => {
  const sandbox = { addresses: createAddressRules(['127.0.0.0/8']), ports: [443], isSandbox: true }
  const schemes = 'endpoint-scheme'
  const host = 'endpoint-host'
  const expected = {
    'http://127.0.0.1:0/': 'endpoint-port',
    'http:///x': schemes,
    'https:/x.example': schemes,
    'https:x.example': schemes,
    'http:\\\\x.example': schemes,
    'http://a..b/': host,
    'http://.a/': host,
    [`http://${'a'.repeat(64)}.example/`]: host,
    [`http://${'a.'.repeat(127)}example/`]: host,
  }
  for (const [url, rule] of Object.entries(expected)) assert.equal(urlError(sandbox, url)?.rule, rule, url)
})

test('ten attempts, each wait 10 % more or less, and as long as the receiver asks', () => {
  assert.equal(waits.length, 9)
  for (const [index, wait] of waits.entries())
    for (const random of [0, 0.5, 1]) {
      const ms = waitAfter(index + 1, null, random) ?? 0
      assert.ok(Math.abs(ms - wait * (0.9 + 0.2 * random)) < 1)
    }
  assert.equal(waitAfter(10, null, 0.5), null)
  assert.equal(waitAfter(1, 60_000, 0.5), 60_000)
  assert.equal(waitAfter(1, 1, 0.5), 5_000)
  assert.equal(waitAfter(1, 999 * 3_600_000, 0.5), 24 * 3_600_000)
  const now = new Date('2026-11-22T08:00:00Z')
  assert.equal(retryAfterMs(429, '120', now), 120_000)
  assert.equal(retryAfterMs(503, 'Sun, 22 Nov 2026 08:01:00 GMT', now), 60_000)
  assert.equal(retryAfterMs(500, '120', now), null)
  assert.equal(retryAfterMs(429, 'soon', now), null)
  assert.deepEqual([0, 1, 2, 3, 4, 50].map(probeWait), [30_000, 60_000, 120_000, 240_000, 300_000, 300_000])
})

test('openssl makes the same signature', () => {
  const secret = makeSecret()
  const signed = { id: 'e1', timestamp: 1_795_000_000, body: '{"a":"ї"}' }
  const { stdout } = spawnSync(
    'openssl',
    ['dgst', '-sha256', '-mac', 'HMAC', '-macopt', `hexkey:${secret.toString('hex')}`, '-binary'],
    { input: `${signed.id}.${signed.timestamp}.${signed.body}` },
  )
  assert.equal(signatures([createSecretKey(secret)], signed), `v1,${stdout.toString('base64')}`)
})

test('the library of Standard Webhooks takes our signatures, and nothing with one bit changed', () => {
  const [newest, old] = [makeSecret(), makeSecret()]
  const body = JSON.stringify({ id: 'e1', data: { text: 'Оплата ї 42' } })
  const timestamp = Math.floor(Date.now() / 1_000)
  const sent = {
    'webhook-id': 'e1',
    'webhook-timestamp': String(timestamp),
    'webhook-signature': signatures(
      [newest, old].map(secret => createSecretKey(secret)),
      { id: 'e1', timestamp, body },
    ),
  }
  for (const secret of [newest, old])
    assert.deepEqual(new Webhook(shownSecret(secret)).verify(body, sent), JSON.parse(body))
  const verify = (secret: Buffer, headers: Record<string, string>, bytes: Buffer) => () =>
    new Webhook(shownSecret(secret)).verify(bytes, headers)
  const bytes = Buffer.from(body)
  for (let bit = 0; bit < bytes.length * 8; bit += 7)
    assert.throws(verify(newest, sent, flipped(bytes, bit)), WebhookVerificationError)
  assert.throws(verify(makeSecret(), sent, bytes), WebhookVerificationError)
  assert.throws(verify(flipped(newest, 0), sent, bytes), WebhookVerificationError)
  assert.throws(verify(newest, { ...sent, 'webhook-id': 'e2' }, bytes), WebhookVerificationError)
  const later = { ...sent, 'webhook-timestamp': String(timestamp + 1) }
  assert.throws(verify(newest, later, bytes), WebhookVerificationError)
})

function flipped(bytes: Buffer, bit: number): Buffer {
  const changed = Buffer.from(bytes)
  changed.writeUInt8(changed.readUInt8(bit >> 3) ^ (1 << (bit & 7)), bit >> 3)
  return changed
}
