/**
 * What a browser gets below `/app/`: the built files, compressed and cached; one page for every inner address; and
 * strict headers.
 */
import assert from 'node:assert/strict'
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { request } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, suite, test } from 'node:test'
import { brotliCompressSync, brotliDecompressSync, gunzipSync, gzipSync } from 'node:zlib'
import type { FastifyInstance } from 'fastify'
import { createApp } from '../../../src/server/app.ts'
import { startPlatform, type TestPlatform } from '../../support/platform.ts'

const script = `console.log('portal')\n`.repeat(200)
const index =
  '<!doctype html><meta property="csp-nonce" nonce="__CSP_NONCE__"><style nonce="__CSP_NONCE__"></style><div id="portal"></div>'

let platform: TestPlatform
let folder: string
let app: FastifyInstance
let port: number
before(async () => {
  platform = await startPlatform()
  folder = await mkdtemp(join(tmpdir(), 'perkline-portal-'))
  const built = { ...platform.platform.deps, portalFolder: join(folder, 'dist') }
  app = await createApp(built)
  await app.listen({ port: 0, host: '127.0.0.1' })
  port = (app.server.address() as AddressInfo).port
  await mkdir(join(folder, 'dist/assets'), { recursive: true })
  await writeFile(join(folder, 'secret.txt'), 'secret')
  await writeFile(join(folder, 'dist/assets/main-C0FFEE.js'), script)
  await writeFile(join(folder, 'dist/assets/main-C0FFEE.js.br'), brotliCompressSync(script))
  await writeFile(join(folder, 'dist/assets/main-C0FFEE.js.gz'), gzipSync(script))
  await writeFile(join(folder, 'dist/assets/font.woff2'), 'font')
  await writeFile(join(folder, 'dist/icon.svg'), '<svg xmlns="http://www.w3.org/2000/svg"/>')
  await writeFile(join(folder, 'dist/.hidden'), 'hidden')
  await writeFile(join(folder, 'dist/index.html'), index)
})
after(async () => {
  await app.close()
  await platform.close()
  await rm(folder, { recursive: true, force: true })
})

type Got = { status: number; headers: Record<string, string | undefined>; body: Buffer }

/** Requests exactly this path and decompresses nothing. */
function get(path: string, headers: Record<string, string> = {}, method = 'GET', at = port): Promise<Got> {
  return new Promise((resolve, reject) => {
    const sent = request({ host: '127.0.0.1', port: at, path, method, headers }, async answer => {
      const chunks: Buffer[] = []
      for await (const chunk of answer) chunks.push(chunk as Buffer)
      resolve({
        status: answer.statusCode ?? 0,
        headers: answer.headers as Got['headers'],
        body: Buffer.concat(chunks),
      })
    })
    sent.once('error', reject).end()
  })
}

const nonceOf = ({ headers }: Got) =>
  /style-src 'self' 'nonce-([\w+/=]+)'/.exec(headers['content-security-policy'] ?? '')?.[1]

suite('the page', () => {
  test('at /app/ and every inner address, asked for anew each time', async () => {
    for (const path of [
      '/app/',
      '/app/index.html',
      '/app/merchant/campaigns/7?tab=banks',
      '/app/users/ivan.petrenko',
    ]) {
      const { status, headers, body } = await get(path)
      assert.deepEqual([status, headers['content-type']], [200, 'text/html; charset=utf-8'], path)
      assert.equal(headers['cache-control'], 'no-cache')
      assert.equal(headers.etag, undefined, 'a page kept by the browser would have an old nonce')
      assert.match(body.toString(), /<div id="portal">/)
    }
  })

  test('with any query, because the page itself says what is wrong with it', async () => {
    for (const query of ['externalId=%00', 'q=%ff', 'q=%']) {
      const { status, headers } = await get(`/app/bank/esim/sales?${query}`)
      assert.deepEqual([status, headers['content-type']], [200, 'text/html; charset=utf-8'], query)
    }
  })

  test('its nonce stands in page and policy, and is a new one each time', async () => {
    const answers = [await get('/app/'), await get('/app/')]
    const nonces = answers.map(answer => {
      const nonce = nonceOf(answer)
      assert.ok(nonce && nonce.length >= 22)
      assert.equal(answer.body.toString().split(`nonce="${nonce}"`).length, 3)
      return nonce
    })
    assert.notEqual(nonces[0], nonces[1])
  })

  test('HEAD, and /app leads there', async () => {
    const head = await get('/app/', {}, 'HEAD')
    assert.deepEqual([head.status, head.body.length], [200, 0])
    assert.ok(Number(head.headers['content-length']) > 100)
    const { status, headers } = await get('/app')
    assert.deepEqual([status, headers.location], [301, '/app/'])
  })

  test('405 for another method, 404 for an asset that is not there', async () => {
    const post = await get('/app/login', {}, 'POST')
    assert.deepEqual([post.status, post.headers.allow], [405, 'GET, HEAD'])
    for (const path of ['/app/no.js', '/app/merchant/style.css', '/app/nope.json'])
      assert.equal((await get(path)).status, 404, path)
    const gone = await get('/app/assets/main-OLD.js')
    assert.equal(gone.status, 404)
    assert.ok(!/immutable/.test(gone.headers['cache-control'] ?? ''))
  })
})

suite('headers', () => {
  test('a strict policy on page, files and errors', async () => {
    for (const path of ['/app/', '/app/assets/main-C0FFEE.js', '/app/icon.svg', '/app/assets/none.js']) {
      const answer = await get(path)
      const { 'content-security-policy': policy = '', ...headers } = answer.headers
      const nonce = nonceOf(answer)
      assert.deepEqual(policy.replace(` 'nonce-${nonce}'`, '').split('; '), [
        `default-src 'self'`,
        `script-src 'self'`,
        `style-src 'self'`,
        `img-src 'self' data:`,
        `connect-src 'self'`,
        `object-src 'none'`,
        `frame-ancestors 'none'`,
        `base-uri 'none'`,
        `form-action 'self'`,
      ])
      assert.deepEqual(
        [headers['x-content-type-options'], headers['referrer-policy'], headers['cross-origin-opener-policy']],
        ['nosniff', 'same-origin', 'same-origin'],
      )
    }
  })
})

suite('files', () => {
  const path = '/app/assets/main-C0FFEE.js'

  test('with a hash in their name: kept for a year', async () => {
    const { status, headers, body } = await get(path)
    assert.deepEqual([status, body.toString()], [200, script])
    assert.equal(headers['cache-control'], 'public, max-age=31536000, immutable')
    assert.match(headers['content-type'] ?? '', /^(text|application)\/javascript/)
  })

  test('others are asked for anew, with an ETag', async () => {
    const { headers } = await get('/app/icon.svg')
    assert.deepEqual([headers['cache-control'], headers['content-type']], ['no-cache', 'image/svg+xml'])
    const again = await get('/app/icon.svg', { 'if-none-match': headers.etag ?? '' })
    assert.deepEqual([again.status, again.body.length], [304, 0])
  })

  test('compressed as the browser takes it, brotli first, from what the build has made', async () => {
    for (const [accept, encoding, unpack] of [
      ['gzip, deflate, br, zstd', 'br', brotliDecompressSync],
      ['gzip', 'gzip', gunzipSync],
      ['identity', undefined, (body: Buffer) => body],
    ] as const) {
      const { status, headers, body } = await get(path, { 'accept-encoding': accept })
      assert.deepEqual([status, headers['content-encoding']], [200, encoding])
      assert.equal(unpack(body).toString(), script)
      assert.match(headers.vary ?? '', /accept-encoding/i)
      assert.match(headers['content-type'] ?? '', /javascript/)
      assert.equal(headers['cache-control'], 'public, max-age=31536000, immutable')
    }
    const plain = await get('/app/assets/font.woff2', { 'accept-encoding': 'br' })
    assert.deepEqual([plain.status, plain.headers['content-encoding']], [200, undefined])
  })

  test('HEAD and ranges', async () => {
    const head = await get(path, {}, 'HEAD')
    assert.deepEqual([head.status, head.headers['content-length'], head.body.length], [200, String(script.length), 0])
    const part = await get(path, { range: 'bytes=0-6' })
    assert.deepEqual([part.status, part.body.toString()], [206, script.slice(0, 7)])
  })

  test('nothing beside the folder, and nothing hidden', async () => {
    for (const path of [
      '/app/../secret.txt',
      '/app/%2e%2e/secret.txt',
      '/app/assets/../../secret.txt',
      '/app/assets/%2e%2e/%2e%2e/secret.txt',
      '/app/assets/..%2f..%2fsecret.txt',
      '/app/assets/..%5c..%5csecret.txt',
      '/app/.hidden',
      '/app/assets/%00',
      '/app//etc/passwd',
      '/app/assets//etc/passwd',
      '/app/assets/',
      '/app/assets',
    ]) {
      const { status, body } = await get(path)
      assert.ok(status < 500, `${path} ${status}`)
      assert.ok(!/^(secret|hidden)$|root:/.test(body.toString()), path)
    }
  })
})

test('without a build the page says what to do, and is there once it was built', async () => {
  const later = join(folder, 'later')
  const other = await createApp({ ...platform.platform.deps, portalFolder: later })
  await other.listen({ port: 0, host: '127.0.0.1' })
  const at = (other.server.address() as AddressInfo).port
  try {
    const { status, headers, body } = await get('/app/login', {}, 'GET', at)
    assert.deepEqual(
      [status, headers['content-type'], headers['cache-control']],
      [503, 'text/html; charset=utf-8', 'no-store'],
    )
    assert.match(body.toString(), /npm run build/)
    await mkdir(later)
    await writeFile(join(later, 'index.html'), index)
    assert.equal((await get('/app/login', {}, 'GET', at)).status, 200)
  } finally {
    await other.close()
  }
})

test('a process without the portal does not serve it', async () => {
  const other = await createApp({ ...platform.platform.deps, services: ['esim'] })
  const { statusCode } = await other.inject('/app/')
  assert.equal(statusCode, 404)
  await other.close()
})

test('the bare address leads a browser to the portal, and tells programs where everything is', async () => {
  const page = await fetch(`http://127.0.0.1:${port}/`, {
    headers: { accept: 'text/html,*/*;q=0.8' },
    redirect: 'manual',
  })
  assert.deepEqual([page.status, page.headers.get('location')], [302, '/app/'])
  const answer = await platform.call('GET', '/')
  assert.equal(answer.status, 200)
  assert.deepEqual(answer.body, {
    name: 'Perkline',
    portal: '/app/',
    documentation: {
      campaigns: '/swagger',
      esim: '/esim/v1/swagger',
      partner: '/partner/v1/swagger',
      operator: '/admin/swagger',
    },
    health: '/health/ready',
  })
  for (const path of Object.values(answer.body.documentation as Record<string, string>))
    assert.notEqual((await platform.call('GET', path)).status, 404, path)
  const alone = await startPlatform({}, { only: ['esim'] })
  try {
    const { body } = await alone.call('GET', '/', { headers: { accept: 'text/html' } })
    assert.deepEqual(body, {
      name: 'Perkline',
      documentation: { esim: '/esim/v1/swagger' },
      health: '/health/ready',
    })
  } finally {
    await alone.close()
  }
})
