/**
 * A proxy between the platform and its database that can fall silent like a broken network: it refuses nothing and
 * delivers nothing.
 */
import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'

export type MuteProxy = {
  /** The database's address through the proxy. */
  url: string
  /** Keeps every connection open, accepts new ones, and passes nothing on. @returns how many connections it holds */
  fallSilent(): number
  /**
   * New connections reach the database again. Every second one of the connections that were open before the silence
   * works again and delivers the bytes that were held. All others stay silent forever, as behind a firewall that has
   * forgotten them.
   */
  speakAgain(): void
  /**
   * Loses the open connections without an error, while new ones work. `holds`: like a firewall that has forgotten the
   * connections, it accepts no more bytes. `swallows`: like a proxy whose other side has died, it accepts all bytes and
   * delivers none. The server is not told when the platform closes a lost connection. @returns how many are lost
   */
  lose(how: 'holds' | 'swallows'): number
  /**
   * Cuts the connection on which the next statement with this name or text is sent. `before`: the server does not get
   * it. `after`: the server carries it out, but its answer is lost.
   */
  cutAt(statement: string, when: 'before' | 'after'): void
  close(): Promise<void>
}

/** @param databaseUrl the address of a database server that listens on a socket file (`?host=`) or on a port */
export async function startMuteProxy(databaseUrl: string): Promise<MuteProxy> {
  const target = new URL(databaseUrl)
  const folder = target.searchParams.get('host')
  const port = Number(target.port || 5432)
  const reach = () =>
    folder?.startsWith('/') ? connect(`${folder}/.s.PGSQL.${port}`) : connect(port, folder ?? target.hostname)
  const pairs = new Set<[Socket, Socket]>()
  const lost = new Set<[Socket, Socket]>()
  const muted = new Set<Socket>()
  let silent = false
  let trap: { statement: string; when: 'before' | 'after' } | null = null

  const spring = (chunk: Buffer, [client, upstream]: [Socket, Socket]) => {
    if (!trap || !chunk.includes(trap.statement)) return
    const end = () => {
      client.destroy()
      upstream.destroy()
    }
    if (trap.when === 'before') end()
    else {
      upstream.unpipe(client).resume()
      setTimeout(end, 300)
    }
    trap = null
  }
  const server = createServer(client => {
    client.on('error', () => client.destroy())
    if (silent) {
      muted.add(client)
      client.once('close', () => muted.delete(client))
      return void client.resume()
    }
    const upstream = reach()
    const pair: [Socket, Socket] = [client, upstream]
    pairs.add(pair)
    upstream.on('error', () => upstream.destroy())
    client.on('data', chunk => spring(chunk, pair))
    for (const [from, to] of [pair, [upstream, client] as const]) {
      from.pipe(to)
      from.once('close', () => {
        pairs.delete(pair)
        if (!lost.has(pair)) to.destroy()
      })
    }
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  target.searchParams.delete('host')
  target.hostname = '127.0.0.1'
  target.port = String((server.address() as AddressInfo).port)

  return {
    url: target.href,
    fallSilent() {
      silent = true
      for (const [client, upstream] of pairs) {
        client.unpipe(upstream).pause()
        upstream.unpipe(client).pause()
      }
      return pairs.size
    },
    speakAgain() {
      silent = false
      let place = 0
      for (const [client, upstream] of pairs)
        if (place++ % 2 === 0) {
          client.pipe(upstream)
          upstream.pipe(client)
        }
    },
    cutAt(statement, when) {
      trap = { statement, when }
    },
    lose(how) {
      const open = [...pairs]
      for (const pair of open) {
        lost.add(pair)
        pairs.delete(pair)
        const [client, upstream] = pair
        client.unpipe(upstream)
        upstream.unpipe(client)
        for (const socket of pair) how === 'holds' ? socket.pause() : socket.resume()
      }
      return open.length
    },
    async close() {
      for (const pair of [...pairs, ...lost]) for (const socket of pair) socket.destroy()
      for (const socket of muted) socket.destroy()
      await new Promise(resolve => server.close(resolve))
    },
  }
}
