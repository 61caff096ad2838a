/**
 * No connection is made to a forbidden address. This is true for every way to write the address, and for names that
 * later resolve to one (contract/webhooks.md, "Addresses").
 */
import assert from 'node:assert/strict'
import { createSocket, type Socket } from 'node:dgram'
import { Resolver } from 'node:dns/promises'
import { createServer, type Server } from 'node:http'
import { type AddressInfo, createServer as createTcpServer } from 'node:net'
import { networkInterfaces } from 'node:os'
import { after, afterEach, before, mock, test } from 'node:test'
import { setImmediate } from 'node:timers/promises'
import { createAddressRules } from '../../src/webhooks/addresses.ts'
import { createSender } from '../../src/webhooks/sender.ts'

let server: Server
let port: number
let arrived = 0

before(async () => {
  server = createServer((_, response) => response.writeHead(204).end())
  server.on('connection', () => arrived++)
  // Listens at every address of this machine, IPv4 and IPv6.
  await new Promise<void>(resolve => server.listen(0, '::', resolve))
  port = (server.address() as AddressInfo).port
})
after(() => {
  server.closeAllConnections()
  server.close()
})
afterEach(() => mock.restoreAll())

const headers = { 'content-type': 'application/json' }
const outcomeOf = async (host: string, allowed: readonly string[] = []) => {
  const sender = createSender({ rules: createAddressRules(allowed), ca: null })
  try {
    return (await sender.send(`http://${host}:${port}/`, headers, '{}')).outcome
  } finally {
    sender.close()
  }
}

const own = Object.values(networkInterfaces())
  .flat()
  .map(one => one?.address ?? '')
const spellings = [
  ...[
    '127.0.0.1',
    '127.1',
    '127.0.1',
    '2130706433',
    '0x7f000001',
    '0x7f.1',
    '017700000001',
    '0177.0.0.1',
    '127.0.0.1.',
  ],
  ...['0', '0.0.0.0', '127.255.255.254', '１２７.0.0.1', '127。0。0。1', '%31%32%37.0.0.1'],
  ...['[::1]', '[::]', '[::ffff:127.0.0.1]', '[::ffff:7f00:1]', '[0:0:0:0:0:ffff:7f00:1]', '[::127.0.0.1]'],
  ...['[64:ff9b::7f00:1]', '[64:ff9b::127.0.0.1]', '[2002:7f00:1::]', '[fe80::1]', '[fc00::1]', '[::ffff:0:127.0.0.1]'],
  ...[
    'localhost',
    'LOCALHOST',
    'localhost.',
    'a.localhost',
    '10.0.0.1',
    '169.254.169.254',
    '192.168.1.1',
    '172.16.0.1',
  ],
  ...[
    '100.64.0.1',
    '198.18.0.1',
    '224.0.0.1',
    '255.255.255.255',
    '[2001:db8::1]',
    '[ff02::1]',
    '[3fff::1]',
    '[2001::1]',
  ],
  ...own.map(address => (address.includes(':') ? `[${address}]` : address)).filter(address => !address.includes('%')),
]

test('no spelling of a refused address gets a connection', async () => {
  for (const host of spellings) assert.equal(await outcomeOf(host), 'address-refused', host)
  assert.equal(arrived, 0)
})

/** Starts a name server that never answers. */
async function startSilentNameServer(): Promise<{ address: string; socket: Socket; asked: () => number }> {
  const socket = createSocket('udp4')
  let asked = 0
  socket.on('message', () => asked++)
  await new Promise<void>(resolve => socket.bind(0, '127.0.0.1', resolve))
  return { address: `127.0.0.1:${socket.address().port}`, socket, asked: () => asked }
}

test('name servers that say nothing are asked once, for 3 seconds altogether', async () => {
  const silent = await Promise.all([1, 2, 3].map(startSilentNameServer))
  for (const family of ['resolve4', 'resolve6'] as const) {
    const resolve = Resolver.prototype[family] as (name: string) => Promise<string[]>
    mock.method(Resolver.prototype, family, function (this: Resolver, name: string) {
      if (silent.every(({ address }) => !this.getServers().includes(address)))
        this.setServers(silent.map(({ address }) => address))
      return resolve.call(this, name)
    })
  }
  const sender = createSender({ rules: createAddressRules([]), ca: null })
  try {
    const { outcome, durationMs } = await sender.send(`http://names.example:${port}/`, headers, '{}')
    // Without the limit for names, the limit for connections would end the attempt after 5 seconds.
    assert.equal(outcome, 'dns')
    assert.ok(durationMs >= 2_900, `${durationMs} ms`)
    assert.ok(silent.some(({ asked }) => asked() > 0))
    // Each server gets at most one question for each address family.
    for (const { asked } of silent) assert.ok(asked() <= 2, `${asked()} questions`)
  } finally {
    sender.close()
    for (const { socket } of silent) socket.close()
  }
})

test('a name with one good and one bad address is refused, and so is one that changes', async () => {
  const answers: string[][] = []
  mock.method(Resolver.prototype, 'resolve4', async () => answers.shift() ?? ['127.0.0.1'])
  mock.method(Resolver.prototype, 'resolve6', async () => [])
  for (const addresses of [['192.0.2.1', '127.0.0.1'], ['8.8.8.8', '10.0.0.1'], ['127.0.0.1']]) {
    answers.push(addresses)
    assert.equal(await outcomeOf('names.example'), 'address-refused')
  }
  assert.equal(arrived, 0)
  // The connection uses the address that was checked, even if the name gets another address afterwards.
  answers.push(['127.0.0.2'], ['127.0.0.1'])
  assert.equal(await outcomeOf('changing.example', ['127.0.0.2/32']), 'delivered')
  assert.equal(await outcomeOf('changing.example', ['127.0.0.2/32']), 'address-refused')
  assert.equal(arrived, 1)
})

test('a connection is a minute old a minute after it was made, however long its first request took', async () => {
  const now = performance.now.bind(performance)
  let laterMs = 0
  mock.method(performance, 'now', () => now() + laterMs)
  const sender = createSender({ rules: createAddressRules(['127.0.0.0/8']), ca: null })
  const send = async () =>
    assert.equal((await sender.send(`http://127.0.0.1:${port}/`, headers, '{}')).outcome, 'delivered')
  const before = arrived
  try {
    server.once('request', () => {
      laterMs += 61_000
    })
    await send()
    await send()
    assert.equal(arrived - before, 2, 'the first connection is not kept')
    await send()
    assert.equal(arrived - before, 2, 'the second connection is kept')
  } finally {
    sender.close()
  }
})

test('an answer in single bytes, and informational answers without end, are broken off', async () => {
  const endless = {
    chunks: {
      head: 'HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n',
      piece: '1\r\na\r\n',
      outcome: 'delivered',
    },
    informational: { head: '', piece: 'HTTP/1.1 103 Early Hints\r\n\r\n', outcome: 'connection' },
  }
  for (const [name, { head, piece, outcome }] of Object.entries(endless)) {
    let pieces = 0
    const receiver = createTcpServer(async socket => {
      // Without this, TCP sends a small piece only after the other side has acknowledged the earlier ones.
      socket.setNoDelay()
      socket.on('error', () => {})
      const isOver = () => socket.destroyed || pieces >= 5_000
      socket.write(head)
      for (; !isOver(); pieces++) {
        socket.write(piece)
        await setImmediate()
      }
    })
    await new Promise<void>(resolve => receiver.listen(0, '127.0.0.1', resolve))
    const sender = createSender({ rules: createAddressRules(['127.0.0.0/8']), ca: null })
    const url = `http://127.0.0.1:${(receiver.address() as AddressInfo).port}/`
    assert.equal((await sender.send(url, headers, '{}')).outcome, outcome, name)
    sender.close()
    receiver.close()
    assert.ok(pieces < 1_000, `${name}: ${pieces}`)
  }
})
