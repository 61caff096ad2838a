/** Mails to people over a real SMTP conversation (contract/people.md, "Mails"). */
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { setTimeout as wait } from 'node:timers/promises'
import { createSealer } from '../../../src/sealing.ts'
import { leaves, readMime } from '../../support/mime.ts'
import { openPerson, type Person, tokenOfLink } from '../../support/people.ts'
import { startPlatform, type TestPlatform } from '../../support/platform.ts'
import { type SmtpServer, startSmtpServer } from '../../support/smtp.ts'

let smtp: SmtpServer
let platform: TestPlatform
let manager: Person
before(async () => {
  smtp = await startSmtpServer()
  platform = await startPlatform({ SMTP_URL: smtp.url, MAIL_FROM: 'no-reply@perkline.example', LOG_LEVEL: 'silent' })
  manager = await openPerson(platform, { bank: 'alpha' }, 'ADMIN')
})
after(async () => {
  await platform.close()
  await smtp.close()
})

type Queued = { state: string; tries: number; waitMinutes: number }

/** Waits until the mail to this invited person is in the wanted state, and returns it. */
async function queued(login: string, isReached: (mail: Queued) => boolean): Promise<Queued> {
  for (const endsAt = Date.now() + 15_000; ; await wait(50)) {
    const [mail] = await platform.platform.database.query<Queued>(
      `select m.state, m.tries, extract(epoch from next_at - now())::float8 / 60 as "waitMinutes"
       from people_mails m join invitations using (user_id) where login = $1`,
      [login],
    )
    if (mail && isReached(mail)) return mail
    assert.ok(Date.now() < endsAt, JSON.stringify(mail))
  }
}
const invite = (login: string) =>
  manager.call('POST', '/portal/invitations', { login, role: 'VIEWER', email: `${login}@alpha.example` })
async function shown(login: string): Promise<(string | null)[]> {
  const lists = [await manager.call('GET', '/portal/users'), await manager.call('GET', '/portal/invitations')]
  return lists.map(({ body }) => body.data.find((one: { login: string }) => one.login === login)?.mail)
}

test('the link arrives in plain text and in HTML, and opens the account', async () => {
  const invited = await invite('by-mail')
  assert.deepEqual([invited.status, invited.body.link], [201, undefined])
  await queued('by-mail', ({ state }) => state === 'sent')
  const mail = smtp.messages.find(({ to }) => to.includes('by-mail@alpha.example'))
  const [text, html] = leaves(readMime(mail?.content ?? Buffer.alloc(0)))
  const [link = ''] = /http\S+\/app\/join#\S+/.exec(text?.content.toString() ?? '') ?? []
  assert.ok(html?.content.toString().includes(link))
  assert.ok(!/<img|url\(/i.test(html?.content.toString() ?? ''), 'nothing is loaded from anywhere')
  const body = { token: tokenOfLink(link), password: 'correct horse battery staple' }
  assert.equal((await platform.call('POST', '/portal/invitations/accept', { body })).status, 201)
})

test('what the server refuses is tried after 0, 1, 5 and 30 minutes; then the manager sees the failure', async () => {
  smtp.behave({ rcpt: { refuse: 451, text: 'try again later' } })
  await invite('unlucky')
  for (const [index, minutes] of [1, 5, 30].entries()) {
    const { state, waitMinutes } = await queued('unlucky', ({ tries }) => tries === index + 1)
    assert.equal(state, 'waiting')
    assert.ok(waitMinutes > minutes - 0.5 && waitMinutes <= minutes, `${waitMinutes} instead of ${minutes}`)
    assert.deepEqual(await shown('unlucky'), ['waiting', 'waiting'])
    await platform.platform.database.execute(`update people_mails set next_at = now() where state = 'waiting'`)
  }
  const { tries } = await queued('unlucky', ({ state }) => state === 'failed')
  assert.equal(tries, 4)
  assert.deepEqual(await shown('unlucky'), ['failed', 'failed'])
  smtp.behave({})
  await invite('lucky-again')
  await queued('lucky-again', ({ state }) => state === 'sent')
  assert.ok(!smtp.messages.some(({ to }) => to.includes('unlucky@alpha.example')))
})

test('a mail whose last attempt was cut off is tried once more, and holds up no other mail', async () => {
  smtp.behave({ rcpt: { refuse: 451, text: 'try again later' } })
  await invite('cut-off')
  await queued('cut-off', ({ tries }) => tries === 1)
  // A process that is killed during the fourth attempt leaves a mail like this.
  await platform.platform.database.execute(
    `update people_mails set tries = 4, next_at = now() - interval '1 minute' where state = 'waiting'`,
  )
  await queued('cut-off', ({ state }) => state === 'failed')
  smtp.behave({})
  await invite('after-cut-off')
  await queued('after-cut-off', ({ state }) => state === 'sent')
})

test('a mail with an invitation that was withdrawn is not sent, and nothing of it is kept', async () => {
  smtp.behave({ rcpt: { refuse: 451, text: 'try again later' } })
  const ends: ((maker: Person, invitationId: string) => Promise<{ status: number }>)[] = [
    (maker, invitationId) => maker.call('DELETE', `/portal/invitations/${invitationId}`),
    ({ userId }) => manager.call('PATCH', `/portal/users/${userId}`, { disabled: true }),
  ]
  for (const [index, end] of ends.entries()) {
    const maker = await openPerson(platform, { bank: 'alpha' }, 'ADMIN')
    const login = `withdrawn-${index}`
    const body = { login, role: 'VIEWER', email: `${login}@alpha.example` }
    const invited = await maker.call('POST', '/portal/invitations', body)
    assert.equal(invited.status, 201, invited.text)
    await queued(login, ({ tries }) => tries === 1)
    assert.ok((await end(maker, invited.body.invitationId)).status < 300)
    const left = await platform.platform.database.query(`select from people_mails where state = 'waiting'`)
    assert.equal(left.length, 0)
  }
})

test('a mail whose link has expired while it waited is not sent', async () => {
  smtp.behave({ rcpt: { refuse: 451, text: 'try again later' } })
  await invite('too-late')
  await queued('too-late', ({ tries }) => tries === 1)
  const { database } = platform.platform
  const [mail] = await database.query<{ mailId: string; sealed: Buffer }>(
    `select mail_id as "mailId", sealed from people_mails join invitations using (user_id) where login = 'too-late'`,
  )
  assert.ok(mail)
  const sealer = createSealer(platform.config.masterKeys, 'mail')
  const envelope = JSON.parse(sealer.open(mail.sealed, Buffer.from(mail.mailId)).toString())
  envelope.mail.expiresAt = new Date(Date.now() - 1_000).toISOString()
  const sealed = sealer.seal(Buffer.from(JSON.stringify(envelope)), Buffer.from(mail.mailId))
  await database.execute('update people_mails set sealed = $2, next_at = now() where mail_id = $1', [
    mail.mailId,
    sealed,
  ])
  const { tries } = await queued('too-late', ({ state }) => state !== 'waiting')
  assert.deepEqual([tries, await shown('too-late')], [2, ['failed', 'failed']])
})
