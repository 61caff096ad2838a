/**
 * A network connection between two machines that can be cut like a real network: nothing is refused, and nothing
 * arrives.
 */
import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'

export type Link = {
  /** The port of this link, through which the target is reached. */
  port: number
  /** Cuts the link: open and new connections transfer nothing. */
  cut(): void
  /** Restores the link: new connections work again, and those that were open during the cut are closed. */
  mend(): void
  close(): void
}

/** @param target the port on this machine to which the link leads */
export async function openLink(target: number): Promise<Link> {
  const sockets = new Set<Socket>()
  let isCut = false
  const keep = (socket: Socket): Socket => {
    sockets.add(socket)
    socket.on('error', () => socket.destroy())
    return socket.once('close', () => sockets.delete(socket))
  }
  const server = createServer(client => {
    keep(client)
    if (isCut) return void client.pause()
    const upstream = keep(connect(target, '127.0.0.1'))
    for (const [from, to] of [[client, upstream] as const, [upstream, client] as const])
      from.pipe(to).once('close', () => from.destroy())
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const endAll = () => {
    for (const socket of sockets) socket.destroy()
  }
  return {
    port: (server.address() as AddressInfo).port,
    cut() {
      isCut = true
      for (const socket of sockets) socket.unpipe().pause()
    },
    mend() {
      isCut = false
      endAll()
    },
    close() {
      endAll()
      server.close()
    },
  }
}
