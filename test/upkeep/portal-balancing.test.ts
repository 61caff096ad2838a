/**
 * Two builds of the portal behind the shipped haproxy, as during an upgrade: a browser stays at one process, and programs of partners
 * are balanced.
 */
import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { createServer, type Server } from 'node:http'
import { request } from 'node:https'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, suite, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { until } from '../support/esim.ts'
import { freePort } from '../support/free-port.ts'
import { pathOf, requireProgram } from '../support/require-program.ts'
import { type ShippedProxy, startShippedProxy } from '../support/shipped-proxy.ts'

const makeSecrets = fileURLToPath(new URL('../../deploy/container/make-secrets', import.meta.url))
const builds = ['old', 'new'] as const

let folder: string
let ca: Buffer
let servers: Server[] = []
let proxy: ShippedProxy | null = null
const ports = { partners: 0, staff: 0 }
before(async () => {
  if (!pathOf(['haproxy']) || !pathOf(['openssl'])) return
  folder = await mkdtemp(join(tmpdir(), 'perkline-balancing-'))
  execFileSync(makeSecrets, [folder])
  const tlsFile = join(folder, 'tls.pem')
  ca = await readFile(tlsFile)
  Object.assign(ports, { partners: await freePort(), staff: await freePort() })
  const serving = await startProcesses()
  proxy = await startShippedProxy({
    folder,
    port: ports.partners,
    staffPort: ports.staff,
    tlsFile,
    serving,
    staff: serving,
  })
  for (const port of Object.values(ports))
    await until('the proxy leads to a process', async () => {
      const answer = await ask(port, '/retailers').catch(() => null)
      return answer?.status === 200
    })
})
after(async () => {
  await proxy?.close()
  for (const server of servers) server.closeAllConnections()
  for (const server of servers) if (server.listening) server.close()
  if (folder) await rm(folder, { recursive: true })
})

/** Starts two processes that have only the files of their own build. Every answer says which process has given it. */
async function startProcesses(): Promise<[string, string]> {
  servers = builds.map(build =>
    createServer((call, reply) => {
      const isFound = !call.url?.startsWith('/app/assets/') || call.url === `/app/assets/index-${build}.js`
      reply.writeHead(isFound ? 200 : 404, { 'x-build': build }).end(`/app/assets/index-${build}.js`)
    }),
  )
  for (const server of servers) {
    server.listen(0, '127.0.0.1')
    await once(server, 'listening')
  }
  return servers.map(server => String((server.address() as AddressInfo).port)) as [string, string]
}

type Answer = { status: number | undefined; build: unknown; cookie: string | undefined; body: string }

/** Each request has a connection of its own. @param cookie the cookie that the client has, as `name=value` */
async function ask(port: number, path: string, cookie = ''): Promise<Answer> {
  const asked = request({ host: 'localhost', port, path, ca, agent: false, headers: cookie ? { cookie } : {} }).end()
  const [answer] = await once(asked, 'response')
  const body = (await answer.setEncoding('utf8').toArray()).join('')
  return {
    status: answer.statusCode,
    build: answer.headers['x-build'],
    cookie: answer.headers['set-cookie']?.[0],
    body,
  }
}

const times = <Value>(count: number, make: () => Promise<Value>): Promise<Value[]> =>
  Promise.all(Array.from({ length: count }, make))

suite('two builds behind the shipped haproxy', () => {
  for (const door of ['partners', 'staff'] as const) {
    test(`a browser gets the page, its files and its data from one process (${door})`, async t => {
      if (!requireProgram(t, 'haproxy') || !requireProgram(t, 'openssl')) return
      const pages = await times(12, () => ask(ports[door], '/app/login'))
      assert.deepEqual([...new Set(pages.map(({ build }) => build))].sort(), ['new', 'old'], 'browsers are balanced')
      for (const { build, cookie = '', body } of pages) {
        assert.match(cookie, /^perkline_process=serve-\d; path=\/; HttpOnly; Secure; SameSite=Lax$/i)
        const own = cookie.split(';')[0]
        for (const path of [body, '/app/first-paint.js', '/portal/session', '/cashbacks/for-merchant', '/app/']) {
          const answer = await ask(ports[door], path, own)
          assert.deepEqual([answer.status, answer.build], [200, build], path)
          assert.equal(answer.cookie, undefined)
        }
      }
    })

    test(`a program of a partner is balanced and gets no cookie (${door})`, async t => {
      if (!requireProgram(t, 'haproxy') || !requireProgram(t, 'openssl')) return
      const answers = await times(12, () => ask(ports[door], '/cashbacks/for-merchant'))
      assert.deepEqual([...new Set(answers.map(({ build }) => build))].sort(), ['new', 'old'])
      assert.deepEqual([...new Set(answers.map(({ cookie }) => cookie))], [undefined])
      for (const path of ['/application', '/appendix/', '/partner/v1/app/'])
        assert.equal((await ask(ports[door], path)).cookie, undefined, path)
    })
  }

  test('when its process is away, a browser goes on at the other one, and stays there', async t => {
    if (!requireProgram(t, 'haproxy') || !requireProgram(t, 'openssl')) return
    const [page] = (await times(12, () => ask(ports.partners, '/app/'))).filter(({ build }) => build === 'old')
    const own = page?.cookie?.split(';')[0] ?? ''
    servers[0]?.closeAllConnections()
    servers[0]?.close()
    const answer = await ask(ports.partners, '/portal/session', own)
    assert.deepEqual([answer.status, answer.build], [200, 'new'])
    assert.match(answer.cookie ?? '', /^perkline_process=/)
    assert.equal((await ask(ports.partners, '/app/', answer.cookie?.split(';')[0])).build, 'new')
  })
})
