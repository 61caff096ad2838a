/** The shipped haproxy with TLS (deploy/container/haproxy.cfg) in front of two processes on this machine. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import process from 'node:process'
import { fileURLToPath } from 'node:url'
import { freePort } from './free-port.ts'

const shipped = fileURLToPath(new URL('../../deploy/container/haproxy.cfg', import.meta.url))

export type ShippedProxyOptions = {
  /** The folder for its configuration. */
  folder: string
  /** The port of 127.0.0.1 for partners. */
  port: number
  /** The port for the operator's staff; by default any. */
  staffPort?: number
  /** The certificate with its key, in one file. */
  tlsFile: string
  /** The ports of 127.0.0.1 at which the processes listen for partners. */
  serving: readonly [string, string]
  /** Their ADMIN_PORTs. */
  staff: readonly [string, string]
}

export type ShippedProxy = {
  log(): string
  close(): Promise<void>
}

/** Starts haproxy with the shipped file. Only its ports are others, and it asks no DNS server of a container engine. */
export async function startShippedProxy(options: ShippedProxyOptions): Promise<ShippedProxy> {
  const config = (await readFile(shipped, 'utf8'))
    .replace(/^resolvers engine\n(?: .*\n)+/m, '')
    .replaceAll(' resolvers engine init-addr last,libc,none', '')
    .replace('bind :8443', `bind 127.0.0.1:${options.port}`)
    .replace('bind :8444', `bind 127.0.0.1:${options.staffPort ?? (await freePort())}`)
  const file = join(options.folder, 'haproxy.cfg')
  await writeFile(file, config)
  const at = (backend: string): string => `127.0.0.1:${backend}`
  const proxy = spawn('haproxy', ['-db', '-f', file], {
    stdio: ['ignore', 'pipe', 'ignore'],
    env: {
      ...process.env,
      TLS_FILE: options.tlsFile,
      SERVE_1: at(options.serving[0]),
      SERVE_2: at(options.serving[1]),
      STAFF_1: at(options.staff[0]),
      STAFF_2: at(options.staff[1]),
    },
  })
  let log = ''
  proxy.stdout.on('data', chunk => {
    log += chunk
  })
  return {
    log: () => log,
    async close() {
      proxy.kill('SIGKILL')
      await once(proxy, 'exit')
    },
  }
}
