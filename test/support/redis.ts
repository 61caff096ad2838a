import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { freePort } from './free-port.ts'

export type RedisServer = {
  url: string
  start(): Promise<void>
  /** Ends the server at once, as if its machine had crashed. Its data is lost. */
  stop(): Promise<void>
  /** Freezes the server: until `thaw` it keeps its connections and answers nothing. */
  freeze(): void
  thaw(): void
  close(): Promise<void>
}

/**
 * A running redis-server on a free port of 127.0.0.1 that can be stopped and started again on the same port.
 *
 * @param configuration a file of its settings
 */
export async function startRedisServer(configuration?: string): Promise<RedisServer> {
  const folder = await mkdtemp(join(tmpdir(), 'perkline-redis-'))
  const port = await freePort()
  let stop = async () => {}
  let signal = (_: NodeJS.Signals) => {}
  const start = async () => {
    const given = configuration === undefined ? [] : [configuration]
    const options = [
      ...given,
      '--port',
      String(port),
      '--bind',
      '127.0.0.1',
      '--save',
      '',
      '--appendonly',
      'no',
      '--dir',
      folder,
    ]
    const child = spawn('redis-server', options, { stdio: 'ignore' })
    const gone = once(child, 'exit')
    signal = name => void child.kill(name)
    stop = async () => {
      child.kill('SIGKILL')
      await gone
    }
    while (!(await answers(port))) {
      if (child.exitCode !== null) throw new Error('redis-server does not start')
      await sleep(10)
    }
  }
  await start()
  return {
    url: `redis://127.0.0.1:${port}`,
    start,
    stop: () => stop(),
    freeze: () => signal('SIGSTOP'),
    thaw: () => signal('SIGCONT'),
    async close() {
      await stop()
      await rm(folder, { recursive: true, force: true })
    },
  }
}

function answers(port: number): Promise<boolean> {
  return new Promise(resolve => {
    const socket = connect(port, '127.0.0.1', () => socket.write('PING\r\n'))
    socket.once('data', () => resolve(socket.destroy() !== undefined))
    socket.once('error', () => resolve(false))
  })
}
