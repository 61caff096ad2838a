/** The log warns of a proxy that TRUSTED_PROXIES does not name (contract/access.md, "Wrong secrets and passwords"). */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createLogger } from '../../../src/log.ts'
import { startPlatform } from '../../support/platform.ts'

const live = { PERKLINE_MODE: 'live', SMTP_URL: 'smtp://127.0.0.1:9', MAIL_FROM: 'a@b.example' }

/** The log lines of a platform with these settings after two requests through a proxy on this machine. */
async function warnings(settings: Record<string, string>): Promise<string[]> {
  const lines: string[] = []
  const logger = createLogger('warn', { write: line => void lines.push(line) })
  const platform = await startPlatform(settings, { logger })
  for (const address of ['192.0.2.1', '192.0.2.2'])
    await platform.call('GET', '/health/live', { headers: { 'x-forwarded-for': address } })
  await platform.close()
  return lines.filter(line => line.includes('X-Forwarded-For'))
}

test('live mode names the sender of an X-Forwarded-For that is not trusted, once', async () => {
  const [line = '', ...others] = await warnings(live)
  assert.deepEqual(others, [])
  assert.match(line, /TRUSTED_PROXIES/)
  assert.match(JSON.parse(line).sender, /127\.0\.0\.1$/)
  assert.doesNotMatch(line, /192\.0\.2/)
  assert.equal((await warnings({ ...live, TRUSTED_PROXIES: '10.0.0.0/8' })).length, 1)
})

test('a trusted proxy is no reason to warn, nor is any in the sandbox', async () => {
  assert.deepEqual(await warnings({ ...live, TRUSTED_PROXIES: '127.0.0.1,::1' }), [])
  assert.deepEqual(await warnings({}), [])
})
