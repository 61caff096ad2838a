/**
 * Tokens of links, secrets of second factors and codes reach only the person they are for (contract/people.md,
 * "Invitations and links" and "Second factors"). They are not in logs at trace level, metrics, mails of others, or any
 * file of the database.
 */
import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { freePort } from '../support/free-port.ts'
import { codeOf, logInAs, mailTexts, setUpTotp, tokenOfLink } from '../support/people.ts'
import { startProcess } from '../support/process.ts'

const password = 'correct horse battery staple'

async function filesBelow(folder: string): Promise<string[]> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true })
  return entries.filter(entry => entry.isFile()).map(entry => join(entry.parentPath, entry.name))
}

/** The link in the mail to an address. */
async function mailedLink(dataDir: string, address: string): Promise<string> {
  for (const endsAt = Date.now() + 10_000; ; await new Promise(resolve => setTimeout(resolve, 100))) {
    const mail = (await mailTexts({ dataDir })).find(({ to }) => to.includes(address))
    const link = /\S+\/app\/join#\S+/.exec(mail?.text ?? '')?.[0]
    if (link) return link
    assert.ok(Date.now() < endsAt, `no mail to ${address}`)
  }
}

test('secrets of links, factors and codes are in no log, metric, mail of others or database file', async () => {
  const dataDir = await mkdtemp(join(tmpdir(), 'perkline-secrets-'))
  const [operatorKey, metricsPort] = [randomBytes(32).toString('hex'), String(await freePort())]
  const settings = { DATA_DIR: dataDir, OPERATOR_KEY: operatorKey, LOG_LEVEL: 'trace', METRICS_PORT: metricsPort }
  const platform = await startProcess(settings)
  try {
    const body = { platform: true, role: 'admin', login: 'boss', password, email: 'boss@perkline.example' }
    assert.equal((await platform.call('POST', '/admin/users', { token: operatorKey, body })).status, 201)
    const boss = await logInAs(platform, { typeAccount: 'platform', login: 'boss', password })
    const invite = async (login: string, email?: string) =>
      (await boss.call('POST', '/portal/invitations', { login, role: 'viewer', ...(email && { email }) })).body
    await invite('mailed', 'mailed@perkline.example')
    const mailed = tokenOfLink(await mailedLink(dataDir, 'mailed@perkline.example'))
    const told = tokenOfLink((await invite('told')).link)
    for (const token of [mailed, told]) {
      const joined = await platform.call('POST', '/portal/invitations/accept', { body: { token, password } })
      assert.equal(joined.status, 201, joined.text)
    }
    const waiting = tokenOfLink((await invite('waiting')).link)
    const person = await logInAs(platform, { typeAccount: 'platform', login: 'mailed', password })
    const { secret, recoveryCodes } = await setUpTotp(person)
    const account = { typeAccount: 'platform', login: 'mailed', password }
    const { challenge } = (await platform.call('POST', '/portal/session', { body: account })).body
    const code = codeOf(secret)
    const verified = { challenge, method: 'totp', code }
    assert.equal((await platform.call('POST', '/portal/session/verify', { body: verified })).status, 200)
    const wrong = { challenge, method: 'recovery-code', code: recoveryCodes[0] }
    assert.equal((await platform.call('POST', '/portal/session/verify', { body: wrong })).status, 401)
    await logInAs(platform, { ...account, typeAccount: 'platform' }, recoveryCodes[1])
    const metrics = await (await fetch(`http://127.0.0.1:${metricsPort}/metrics`)).text()
    const mails = await mailTexts({ dataDir })
    await platform.stop()

    const secrets = {
      mailed,
      told,
      waiting,
      secret,
      challenge,
      password,
      first: recoveryCodes[0],
      used: recoveryCodes[1],
    }
    const files = (await filesBelow(dataDir)).filter(file => !file.startsWith(join(dataDir, 'mail')))
    assert.ok(
      files.some(file => file.includes('pg_wal')),
      'the database is there',
    )
    for (const file of files) {
      const bytes = await readFile(file)
      for (const [what, text] of Object.entries(secrets))
        assert.ok(!bytes.includes(String(text)), `${what} is in ${file}`)
    }
    const seen: Record<string, string> = { log: platform.output(), metrics }
    for (const [index, { to, text, html }] of mails.entries())
      if (!to.includes('mailed@')) seen[`mail ${index}`] = text + html
    for (const [where, text] of Object.entries(seen))
      for (const [what, value] of Object.entries(secrets))
        assert.ok(!text.includes(String(value)), `${what} is in ${where}`)
    assert.ok(
      !mails.some(({ text }) => text.includes(recoveryCodes[1] ?? '')),
      'a mail tells of a used code without it',
    )
  } finally {
    await platform.kill()
    await rm(dataDir, { recursive: true, force: true, maxRetries: 10, retryDelay: 200 })
  }
})
