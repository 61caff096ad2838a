/** A receiver of webhooks in this process, and a bare client that sends it the same bytes. */
import { once } from 'node:events'
import { Agent, createServer, request } from 'node:http'
import type { AddressInfo, Socket } from 'node:net'

export type Receiver = {
  url: string
  /** When each request had arrived, by `Date.now()`, and its body. */
  received: { atMs: number; body: string }[]
  stop(): Promise<void>
}

/** @param answers false: the receiver accepts requests and never answers */
export async function startReceiver(answers = true): Promise<Receiver> {
  const received: Receiver['received'] = []
  const sockets = new Set<Socket>()
  const server = createServer((incoming, response) => {
    const chunks: Buffer[] = []
    incoming.on('data', chunk => chunks.push(chunk))
    incoming.once('end', () => {
      received.push({ atMs: Date.now(), body: Buffer.concat(chunks).toString() })
      if (answers) response.writeHead(204).end()
    })
  })
  server.on('connection', socket => {
    sockets.add(socket)
    socket.once('close', () => sockets.delete(socket))
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/hook`,
    received,
    async stop() {
      for (const socket of sockets) socket.destroy()
      server.close()
    },
  }
}

/** Sends bodies over open connections, `atOnce` at a time. @returns requests per second */
export async function sendPlainly(url: string, bodies: readonly string[], atOnce: number): Promise<number> {
  const agent = new Agent({ keepAlive: true, maxSockets: atOnce })
  const headers = { 'content-type': 'application/json', 'webhook-signature': `v1,${'x'.repeat(44)}` }
  let next = 0
  const start = performance.now()
  const work = async () => {
    for (let index = next++; index < bodies.length; index = next++) {
      const body = bodies[index] ?? ''
      const sent = request(url, {
        method: 'POST',
        agent,
        headers: { ...headers, 'content-length': String(Buffer.byteLength(body)) },
      })
      sent.end(body)
      const [answer] = await once(sent, 'response')
      for await (const _ of answer);
    }
  }
  await Promise.all(Array.from({ length: atOnce }, work))
  agent.destroy()
  return (bodies.length * 1_000) / (performance.now() - start)
}
