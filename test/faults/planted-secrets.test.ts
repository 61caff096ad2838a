/**
 * Plants secrets of customers, profiles and endpoints, does everything that could reveal them, and then searches for
 * them: in events, webhooks, deliveries, stored answers, the log and the files of the database (contract/security.md,
 * "Keys").
 */
import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { readdir, readFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { test } from 'node:test'
import { bankAt } from '../support/esim.ts'
import { eventually } from '../support/patroni.ts'
import type { PerklineProcess } from '../support/process.ts'
import { startWorld, type World } from '../support/world.ts'

const patienceMs = 60_000
/** Shorter values, such as a PIN of four digits, would be found by chance. */
const minLength = 8

/** Returns the forms in which a secret could be written. */
function formsOf(secret: string): Buffer[] {
  const bytes = Buffer.from(secret)
  const forms = [bytes, Buffer.from(bytes.toString('hex')), Buffer.from(bytes.toString('base64').replace(/=+$/, ''))]
  if (!secret.startsWith('whsec_')) return forms
  // The key itself: its bytes, and how PostgreSQL shows them.
  const key = Buffer.from(secret.slice('whsec_'.length), 'base64')
  return [...forms, key, Buffer.from(key.toString('hex')), Buffer.from(key.toString('base64').replace(/=+$/, ''))]
}

async function filesBelow(folder: string): Promise<string[]> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true })
  return entries.filter(entry => entry.isFile()).map(entry => join(entry.parentPath, entry.name))
}

async function startReceiver() {
  const bodies: string[] = []
  const server = createServer(async (request, response) => {
    for await (const chunk of request) bodies.push(String(chunk))
    response.writeHead(204).end()
  })
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  const close = () => {
    server.closeAllConnections()
    server.close()
  }
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`, bodies, close }
}

/**
 * Creates the secrets and does what could reveal them.
 * @returns every secret by its name
 */
async function plant(world: World, url: string): Promise<Record<string, string>> {
  const process = world.processes[0] as PerklineProcess
  const { alpha: token } = world.tokens
  const ask = async (method: string, path: string, body: unknown, headers = {}) => {
    const answer = await process.call(method, `/partner/v1${path}`, { token, body, headers })
    assert.ok(answer.status < 300, answer.text)
    return answer.body
  }
  const key = { 'idempotency-key': 'planted' }
  const { endpointId, secret } = await ask('POST', '/webhook-endpoints', { url }, key)
  const again = await ask('POST', '/webhook-endpoints', { url }, key)
  assert.equal(again.secret, secret, 'the stored answer')
  const rotated = await ask('POST', `/webhook-endpoints/${endpointId}/rotate-secret`, {})
  const bank = world.at(0)
  const { orderId } = (await bank.reserve('planted')).body
  const { esim } = (await bank.confirm(orderId)).body
  await bank.qr(orderId)
  const mailing = bankAt(process, world.tokens.beta)
  const email = `planted${randomBytes(12).toString('hex')}@mail.example`
  await mailing.confirm((await mailing.reserve('mailed')).body.orderId, email)
  const issued = await process.admin('POST', '/credentials', { bank: 'alpha', role: 'ADMIN', label: 'planted' })
  const customer = `customer${randomBytes(12).toString('hex')}`
  // These requests are refused. The refusal is recorded, but not the value.
  await process.call('POST', `/partner/v1/webhook-endpoints`, {
    token,
    body: { url: `https://user:${customer}@x.example/` },
  })
  await process.call('GET', `/partner/v1/orders?externalId=${'x'.repeat(200)}`, { token })
  const profile = Object.fromEntries(
    Object.entries(esim as Record<string, unknown>).filter(
      ([name, value]) => /code|iccid|pin|puk/i.test(name) && typeof value === 'string' && value.length >= minLength,
    ),
  ) as Record<string, string>
  assert.ok(Object.keys(profile).length > 0)
  return { secret, rotated: rotated.secret, email, credential: issued.secret, customer, ...profile }
}

test('no planted secret is in events, webhooks, deliveries, stored answers, the log or the files of the database', async () => {
  const world = await startWorld({ processes: 1, profiles: 20, seed: 8_500, settings: { LOG_LEVEL: 'trace' } })
  const receiver = await startReceiver()
  try {
    const secrets = await plant(world, receiver.url)
    await eventually(
      'webhooks arrive',
      () => receiver.bodies.some(body => body.includes('order.confirmed')),
      patienceMs,
    )
    const process = world.processes[0] as PerklineProcess
    const read = async (path: string) =>
      Buffer.from((await process.call('GET', `/partner/v1${path}`, { token: world.tokens.alpha })).text)
    const places: Record<string, Buffer> = {
      events: await read('/events?limit=1000'),
      deliveries: await read('/webhook-deliveries?limit=500'),
      endpoints: await read('/webhook-endpoints'),
      orders: await read('/orders'),
      'audit log': await read('/audit-log?limit=500'),
      webhooks: Buffer.from(receiver.bodies.join('\n')),
    }
    assert.ok(places.deliveries?.includes('"delivered"'))
    await process.stop()
    places.log = Buffer.from(process.output())
    assert.ok(places.log.length > 1_000, 'the log tells much')
    // PostgreSQL writes every change to its transaction log, which is on disk after each commit. So the server's files
    // show everything that was ever stored.
    const files = await filesBelow(join(world.folder, 'server'))
    assert.ok(files.length > 500, `${files.length} files`)
    for (const file of files) places[file] = await readFile(file).catch(() => Buffer.alloc(0))
    for (const [name, secret] of Object.entries(secrets))
      for (const form of formsOf(secret))
        for (const [place, bytes] of Object.entries(places)) assert.ok(!bytes.includes(form), `${name} is in ${place}`)
    // To prove that such a search works, this one finds the name of an order that was stored.
    assert.ok(Object.entries(places).some(([place, bytes]) => place.includes('server') && bytes.includes('planted')))
  } finally {
    receiver.close()
    await world.close()
  }
})
