import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'

export type CuttingProxy = {
  url: string
  /** How many connections were cut after a request was sent. */
  cuts(): number
  close(): Promise<void>
}

/**
 * A proxy to `port` that passes on every request, but cuts the given share of connections instead of returning the
 * answer.
 */
export async function startCuttingProxy(port: number, share: number): Promise<CuttingProxy> {
  const sockets = new Set<Socket>()
  let cuts = 0
  const server = createServer(client => {
    const upstream = connect(port, '127.0.0.1')
    const end = () => {
      client.destroy()
      upstream.destroy()
    }
    for (const socket of [client, upstream]) {
      sockets.add(socket)
      socket.on('error', end)
      socket.on('close', () => {
        sockets.delete(socket)
        end()
      })
    }
    client.pipe(upstream)
    upstream.on('data', chunk => {
      if (Math.random() >= share) return void client.write(chunk)
      cuts++
      end()
    })
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    cuts: () => cuts,
    async close() {
      for (const socket of sockets) socket.destroy()
      await new Promise(resolve => server.close(resolve))
    },
  }
}
