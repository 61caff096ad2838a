/** A bank that delivers by e-mail needs a mail server (contract/operations.md, "The directory file"). */
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { createLogger } from '../../../src/log.ts'
import { startPlatform, type TestPlatform } from '../../support/platform.ts'

let live: TestPlatform
before(async () => {
  live = await startPlatform({ PERKLINE_MODE: 'live' }, { directory: null, logger: createLogger('silent') })
})
after(() => live.close())

const send = (platform: TestPlatform, directory: string, dryRun = false) =>
  platform.call('POST', `/admin/directory?dryRun=${dryRun}`, {
    token: platform.config.operatorKey,
    body: { directory },
  })

const text = 'must be local: qr_email needs SMTP_URL and MAIL_FROM, and this process has no mail server'
const directory = `banks:
  - { code: alpha, name: Alpha, esim: { operators: [] } }
  - code: beta
    name: Beta
    esim:
      operators: []
      deliveryMode: qr_email
  - { code: gamma, name: Gamma, status: suspended, esim: { operators: [], deliveryMode: qr_email } }
`

test('live without a mail server: a bank that delivers by e-mail is refused, and nothing is kept', async () => {
  for (const dryRun of [true, false]) {
    const answer = await send(live, directory, dryRun)
    assert.equal(answer.status, 400, answer.text)
    assert.match(answer.text, new RegExp(`banks\\[1\\]\\.esim\\.deliveryMode \\(line 7\\): ${text}`))
    assert.doesNotMatch(answer.text, /banks\[[02]\]/)
  }
  const { body } = await live.call('GET', '/admin/partners', { token: live.config.operatorKey })
  assert.deepEqual(body.banks, [])
})

test('a suspended bank may deliver by e-mail, until it is made active', async () => {
  const suspended = directory.replace('      deliveryMode: qr_email\n', '')
  assert.equal((await send(live, suspended)).status, 200)
  const active = await send(live, 'banks:\n  - { code: gamma, status: active }')
  assert.equal(active.status, 400, active.text)
  assert.match(active.text, new RegExp(`banks\\[0\\]\\.esim\\.deliveryMode \\(line 2\\): ${text}`))
  const local = await send(
    live,
    'banks:\n  - { code: gamma, status: active, esim: { deliveryMode: local, operators: [] } }',
  )
  assert.equal(local.status, 200, local.text)
})

test('with a mail server, and in a sandbox, it is applied', async () => {
  const mail = { SMTP_URL: 'smtp://127.0.0.1:9', MAIL_FROM: 'a@b.example' }
  for (const settings of [{ PERKLINE_MODE: 'live', ...mail }, { PERKLINE_MODE: 'sandbox' }]) {
    const platform = await startPlatform(settings, { directory: null, logger: createLogger('silent') })
    try {
      const answer = await send(platform, directory)
      assert.equal(answer.status, 200, answer.text)
    } finally {
      await platform.close()
    }
  }
})
