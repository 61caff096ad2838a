/** A real haproxy in front of several processes of the platform, with a health check as in operating.md. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { freePort } from './free-port.ts'

export type Balancer = { url: string; close(): Promise<void> }

/** The configuration sends no request twice, so that every failure of a process is visible. */
const config = (port: number, backends: readonly number[]): string => `
global
  maxconn 1000
defaults
  mode http
  retries 0
  timeout connect 2s
  timeout client 30s
  timeout server 30s
  timeout check 2s
frontend partners
  bind 127.0.0.1:${port}
  default_backend perkline
backend perkline
  balance roundrobin
  option httpchk GET /health/ready
  default-server check inter 500ms fall 1 rise 1
${backends.map(backend => `  server at-${backend} 127.0.0.1:${backend}\n`).join('')}`

/**
 * Starts haproxy, and waits until one of the processes is ready behind it.
 * @param backends ports of 127.0.0.1 on which processes listen, or will listen later
 */
export async function startHaproxy(backends: readonly number[]): Promise<Balancer> {
  const folder = await mkdtemp(join(tmpdir(), 'perkline-haproxy-'))
  const port = await freePort()
  const file = join(folder, 'haproxy.cfg')
  await writeFile(file, config(port, backends))
  const child = spawn('haproxy', ['-db', '-q', '-f', file], { stdio: ['ignore', 'ignore', 'inherit'] })
  const gone = once(child, 'exit')
  const url = `http://127.0.0.1:${port}`
  for (;;) {
    const answer = await fetch(`${url}/health/ready`).catch(() => null)
    await answer?.arrayBuffer()
    if (answer?.status === 200) break
    if (child.exitCode !== null) throw new Error('haproxy does not start')
    await sleep(20)
  }
  return {
    url,
    async close() {
      child.kill('SIGKILL')
      await gone
      await rm(folder, { recursive: true, force: true })
    },
  }
}
