/** Mails to people, and forgotten passwords (contract/people.md, "Mails", and contract/people.md, "Invitations and links"). */
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { createLogger } from '../../../src/log.ts'
import { readEntries } from '../../support/audit-log.ts'
import { until } from '../../support/esim.ts'
import { decodeHeader } from '../../support/mime.ts'
import { logInAs, mailTexts, openPerson, type Person, setUpTotp, tokenOfLink } from '../../support/people.ts'
import { startPlatform, type TestPlatform } from '../../support/platform.ts'
import { addAccount, cookieOf } from '../../support/portal.ts'

const password = 'correct horse battery staple'
let platform: TestPlatform
let manager: Person
before(async () => {
  platform = await startPlatform()
  manager = await openPerson(platform, { bank: 'alpha' }, 'ADMIN')
})
after(() => platform.close())

type Mail = Awaited<ReturnType<typeof mailTexts>>[number]

/** Waits for this many mails to an address. */
async function mailsTo(address: string, count = 1): Promise<Mail[]> {
  const endsAt = Date.now() + 10_000
  for (;;) {
    const mails = (await mailTexts(platform)).filter(({ to }) => to.includes(address))
    if (mails.length >= count) return mails
    assert.ok(Date.now() < endsAt, `${mails.length} mails to ${address}`)
    await new Promise(resolve => setTimeout(resolve, 100))
  }
}
const linkOf = (mail: Mail | undefined): string => /\S+\/app\/join#\S+/.exec(mail?.text ?? '')?.[0] ?? ''
const forget = (login: string) =>
  platform.call('POST', '/portal/password-resets', { body: { typeAccount: 'bank', login } })
const accept = (link: string) =>
  platform.call('POST', '/portal/invitations/accept', { body: { token: tokenOfLink(link), password } })

test('an invitation with an address is mailed and told to nobody, in the inviter’s language', async () => {
  for (const [language, word] of [
    ['en', /You are invited|invited to the portal/],
    ['uk', /Вас запрошено/],
  ] as const) {
    assert.equal((await manager.call('PUT', '/portal/language', { language })).status, 204)
    const email = `${language}@alpha.example`
    const invited = await manager.call('POST', '/portal/invitations', {
      login: `mailed-${language}`,
      role: 'VIEWER',
      email,
    })
    assert.deepEqual(Object.keys(invited.body).sort(), ['expiresAt', 'invitationId'])
    const [mail] = await mailsTo(email)
    assert.match(mail?.text ?? '', word)
    assert.match(mail?.html ?? '', word)
    for (const [link] of (mail?.html ?? '').matchAll(/https?:[^"<]+/g))
      assert.ok(link.startsWith(platform.config.publicUrl), link)
    await until('the invitation tells that the mail was sent', async () => {
      const { data } = (await manager.call('GET', '/portal/invitations')).body
      return data.find((one: { email: string }) => one.email === email).mail === 'sent'
    })
    const token = tokenOfLink(linkOf(mail))
    const joined = await platform.call('POST', '/portal/invitations/accept', { body: { token, password } })
    assert.equal(joined.status, 201)
    await logInAs(platform, { typeAccount: 'bank', login: `mailed-${language}`, password })
  }
})

test('a forgotten password: always 202; three mails an hour; the link works once and leaves the second factor', async () => {
  const person = await openPerson(platform, { bank: 'alpha' }, 'VIEWER')
  const email = 'forgetful@alpha.example'
  await manager.call('PATCH', `/portal/users/${person.userId}`, { email })
  await setUpTotp(person)
  const answers = [await forget('nobody'), await forget(manager.login)]
  for (let index = 0; index < 5; index++) answers.push(await forget(person.login))
  for (const { status, text } of answers) assert.deepEqual([status, text], [202, ''])
  // Three mails have links, and a fourth one says that the authenticator app was added.
  await mailsTo(email, 4)
  await new Promise(resolve => setTimeout(resolve, 2_500))
  const mails = (await mailsTo(email)).filter(mail => linkOf(mail) !== '')
  assert.equal(mails.length, 3)
  const entries = await readEntries(
    platform,
    manager.token,
    `&action=password.reset_link_made&object=user:${person.userId}`,
  )
  assert.deepEqual(
    entries.map(({ actor, via }) => [actor.type, via]),
    Array.from({ length: 3 }, () => ['clock', 'clock']),
    'each link is told, but not who asked for it',
  )
  const accepted = await Promise.all([...mails, ...mails].map(mail => accept(linkOf(mail))))
  assert.equal(accepted.filter(({ status }) => status === 201).length, 1, 'one link works, once')
  const body = { typeAccount: 'bank', login: person.login, password }
  assert.equal((await platform.call('POST', '/portal/session', { body })).status, 202)
})

test('a manager’s new link to a new password ends all earlier ones, and a link that was asked for ends those asked for', async () => {
  const { links, ofManager, ofPerson } = await personWithLinks('twice@alpha.example')
  await ofPerson()
  await ofManager()
  await ofManager()
  for (const link of links.slice(0, -1)) assert.equal((await accept(link)).status, 400)
  await ofPerson()
  await ofPerson()
  assert.equal((await accept(links.at(-2) ?? '')).status, 400)
  assert.equal((await accept(links.at(-1) ?? '')).status, 201)
})

test('a request for a new password keeps a manager’s link valid; using one of the two links ends the other', async () => {
  for (const first of ['manager’s', 'own']) {
    const { links, ofManager, ofPerson } = await personWithLinks(`both-${first === 'own' ? 1 : 2}@alpha.example`)
    await ofManager()
    await ofPerson()
    if (first === 'own') links.reverse()
    assert.deepEqual(
      [(await accept(links[0] ?? '')).status, (await accept(links[1] ?? '')).status],
      [201, 400],
      `the ${first} link first`,
    )
  }
})

/** A person with this address. `links` has the links of the mails, the oldest first. */
async function personWithLinks(email: string) {
  const person = await openPerson(platform, { bank: 'alpha' }, 'VIEWER')
  await manager.call('PATCH', `/portal/users/${person.userId}`, { email })
  const links: string[] = []
  const keepNew = async () => {
    const known = await mailsTo(email, links.length + 1)
    links.push(known.map(linkOf).find(link => !links.includes(link)) ?? '')
  }
  return {
    links,
    async ofManager() {
      assert.equal((await manager.call('POST', `/portal/users/${person.userId}/reset-password`)).status, 200)
      await keepNew()
    },
    async ofPerson() {
      await forget(person.login)
      await keepNew()
    },
  }
}

test('who loses the second factor, and uses a recovery code, is told', async () => {
  const person = await openPerson(platform, { bank: 'alpha' }, 'VIEWER')
  const email = 'told@alpha.example'
  await manager.call('PATCH', `/portal/users/${person.userId}`, { email })
  const { recoveryCodes } = await setUpTotp(person)
  await logInAs(platform, person, recoveryCodes[0])
  await mailsTo(email, 2)
  const reset = () => manager.call('POST', `/portal/users/${person.userId}/reset-mfa`)
  await reset()
  const mails = await mailsTo(email, 3)
  assert.ok(mails.every(({ text }) => !text.includes(recoveryCodes[0] ?? '')))
  const told = mails.find(({ text }) => text.includes('вилучили другий фактор'))
  const [, day, time] = told?.text.match(/(\d{4}-\d\d-\d\d) (\d\d:\d\d) UTC/) ?? []
  const [entry] = await readEntries(platform, manager.token, `&action=mfa.removed&object=user:${person.userId}`)
  const apart = Math.abs(Date.parse(`${day}T${time}Z`) - Date.parse(entry.at))
  assert.ok(apart < 120_000, `the time by which the log is searched, to the minute: ${told?.text}`)
  // The person has no second factor any more, so this reset sends no mail.
  assert.equal((await reset()).status, 204)
  const [row] = await platform.platform.database.query<{ mails: number }>(
    'select count(*)::int as mails from people_mails where user_id = $1',
    [person.userId],
  )
  assert.equal(row?.mails, 3)
})

test('a person who is disabled meanwhile also gets the mail about the lost second factor', async () => {
  const person = await openPerson(platform, { bank: 'alpha' }, 'VIEWER')
  const email = 'disabled-meanwhile@alpha.example'
  const path = `/portal/users/${person.userId}`
  await setUpTotp(person)
  assert.equal((await manager.call('PATCH', path, { email })).status, 200)
  assert.equal((await manager.call('PATCH', path, { disabled: true })).status, 200)
  assert.equal((await manager.call('POST', `${path}/reset-mfa`)).status, 204)
  assert.equal((await manager.call('PATCH', path, { disabled: false })).status, 200)
  const told = await mailsTo(email, 2)
  assert.ok(
    told.some(({ text }) => /вилучили другий фактор/.test(text)),
    'beside the mail about the restored access',
  )
})

const changes = {
  uk: [
    'Налаштовано другий фактор',
    'Створено нові резервні коди',
    'Другий фактор вилучено',
    'Пароль змінено',
    'Пароль змінено',
  ],
  en: [
    'A second factor was set up',
    'New recovery codes were made',
    'Your second factor was removed',
    'Your password was changed',
    'Your password was changed',
  ],
}

for (const language of ['uk', 'en'] as const)
  test(`who changes a password or second factor is told by mail, without a secret (${language})`, async () => {
    const person = await openPerson(platform, { bank: 'alpha' }, 'VIEWER')
    const email = `changed-${language}@alpha.example`
    await person.call('PUT', '/portal/language', { language })
    assert.equal((await manager.call('PATCH', `/portal/users/${person.userId}`, { email })).status, 200)
    const { secret, recoveryCodes } = await setUpTotp(person)
    const renewed = await person.call('POST', '/portal/mfa/recovery-codes')
    assert.equal(renewed.status, 201)
    assert.equal((await person.call('DELETE', '/portal/mfa/totp')).status, 204)
    const own = 'a new password of their own'
    const changed = await person.call('POST', '/portal/password', { current: person.password, password: own })
    assert.equal(changed.status, 204)
    await forget(person.login)
    const token = tokenOfLink((await mailsTo(email, 5)).map(linkOf).find(Boolean) ?? '')
    const accepted = await platform.call('POST', '/portal/invitations/accept', { body: { token, password } })
    assert.equal(accepted.status, 201)
    const told = (await mailsTo(email, 6)).filter(mail => linkOf(mail) === '')
    assert.deepEqual(told.map(({ subject }) => decodeHeader(subject)).sort(), [...changes[language]].sort())
    for (const { text, html } of told) {
      assert.ok(text.includes(person.login) && html.includes(person.login))
      for (const value of [secret, token, own, password, ...recoveryCodes, ...renewed.body.recoveryCodes])
        assert.ok(!text.includes(value) && !html.includes(value))
    }
  })

test('a changed address is told to the one before and to the new one, which neither names', async () => {
  const person = await openPerson(platform, { bank: 'alpha' }, 'VIEWER')
  const [before, now] = ['before@alpha.example', 'now@alpha.example']
  const set = async (email: string | null) =>
    assert.equal((await manager.call('PATCH', `/portal/users/${person.userId}`, { email })).status, 200)
  await set(before)
  await set(before)
  await set(now)
  const [first] = await mailsTo(now)
  await set(null)
  const mails = [...(await mailsTo(before)), ...(await mailsTo(now, 2))]
  assert.equal(mails.length, 3, 'nothing is told of the first address')
  for (const { text, html, subject } of mails) {
    assert.equal(subject, first?.subject)
    for (const address of [before, now]) assert.ok(!text.includes(address) && !html.includes(address))
  }
})

for (const [language, told] of [
  ['en', /the access was enabled again/],
  ['uk', /знову увімкнено доступ/],
] as const)
  test(`who is enabled again is told by mail, at the address from before (${language})`, async () => {
    const person = await openPerson(platform, { bank: 'alpha' }, 'VIEWER')
    assert.equal((await person.call('PUT', '/portal/language', { language })).status, 204)
    const email = `enabled-${language}@alpha.example`
    const change = async (to: object) =>
      assert.equal((await manager.call('PATCH', `/portal/users/${person.userId}`, to)).status, 200)
    await change({ email })
    await change({ disabled: true })
    await change({ disabled: false })
    const [mail] = await mailsTo(email)
    assert.match(mail?.text ?? '', told)
    await change({ disabled: false })
    await change({ disabled: true })
    await change({ disabled: false, email: `elsewhere-${language}@alpha.example` })
    const texts = (await mailsTo(email, 3)).map(({ text }) => text)
    assert.equal(texts.filter(text => told.test(text)).length, 2, 'not when nothing has changed')
  })

test('live: the platform’s people get no token by a password alone, only a session that sets a factor up', async () => {
  const live = await startPlatform({ PERKLINE_MODE: 'live' }, { directory: null, logger: createLogger('silent') })
  try {
    const account = await addAccount(live, 'platform', 'admin')
    const token = await live.call('POST', '/auth/login', { body: account })
    assert.deepEqual([token.status, token.headers.get('perkline-error-code')], [401, 'mfa-needed'])
    const session = await live.call('POST', '/portal/session', { body: account })
    const headers = { cookie: cookieOf(session), 'sec-fetch-site': 'same-origin' }
    for (const path of ['/portal/users', '/admin/partners', '/partner/v1/audit-log'])
      assert.equal((await live.call('GET', path, { headers })).status, 401, path)
    assert.equal((await live.call('POST', '/portal/mfa/totp', { headers })).status, 200)
  } finally {
    await live.close()
  }
})

test('a login that reads like a link makes none in the mail', async () => {
  const logins = [
    'https://evil.example/sign-in',
    'WWW.evil.example',
    'evil.com/login',
    'pay.evil-bank.ua',
    'Evil.Support',
    'платіж-evil.УКР',
    'evil.com.',
    'evil.com_login',
    'evil.example/login@alpha',
    '192.0.2.7/evil',
    'evil．bank．ua',
    'evil。bank。ua',
    'evil｡shop｡ua',
    'evil․card․ua',
    'ｅｖｉｌ.ｕａ',
    '//evil/x',
    'http:/evil',
    'evil:／／x',
    'evil 192.0.2.7',
    'evil-192．0．2．7.',
    'evil:8080/x',
  ]
  const mails = await inviteAll('phished', logins)
  for (const [index, mail] of mails.entries()) {
    assert.notEqual(linkOf(mail), '')
    assert.ok(!/evil/i.test(`${mail?.text}${mail?.html}${mail?.subject}`), logins[index])
  }
})

test('a login that is an e-mail address or a name with a dot is shown', async () => {
  const logins = ['olena@alpha.ua', 'olena.kovalenko', 'o.kovalenko-2', 'v.1.0', 'v1.2.3.4.5', 'bank/олена', 'каса: 2']
  const mails = await inviteAll('shown', logins)
  for (const [index, mail] of mails.entries()) assert.ok(mail?.text.includes(` ${logins[index]}.`), mail?.text)
})

/** Invites a person with each of these logins. @returns the mail of each */
async function inviteAll(name: string, logins: readonly string[]): Promise<(Mail | undefined)[]> {
  const emails = logins.map((_, index) => `${name}-${index}@alpha.example`)
  for (const [index, login] of logins.entries()) {
    const invitation = { login, role: 'VIEWER', email: emails[index] }
    const invited = await manager.call('POST', '/portal/invitations', invitation)
    assert.equal(invited.status, 201, invited.text)
  }
  const mails: (Mail | undefined)[] = []
  for (const email of emails) mails.push((await mailsTo(email))[0])
  return mails
}

test('an account causes 1,000 mails an hour; others and links that are told go on', async () => {
  const counted = await startPlatform()
  try {
    const of = async (bank: string) => openPerson(counted, { bank }, 'ADMIN')
    const [alpha, beta] = [await of('alpha'), await of('beta')]
    const { mails } = counted.platform.deps.people
    const [row] = await counted.platform.database.query<{ id: string }>(
      `select bank_id as id from banks where code = 'alpha'`,
    )
    const changed = await openPerson(counted, { bank: 'alpha' }, 'VIEWER')
    const changeAddress = (email: string) => alpha.call('PATCH', `/portal/users/${changed.userId}`, { email })
    assert.equal((await changeAddress('first@alpha.example')).status, 200)
    for (let mailed = 0; mailed < 999; mailed++) await mails.countMail({ type: 'bank', id: row?.id ?? '' })
    const invite = (person: Person, login: string, email?: string) =>
      person.call('POST', '/portal/invitations', { login, role: 'VIEWER', ...(email && { email }) })
    assert.equal((await invite(alpha, 'last', 'last@alpha.example')).status, 201)
    const over = await invite(alpha, 'over', 'over@alpha.example')
    assert.deepEqual([over.status, over.body.code], [429, 'too-many'])
    assert.ok(Number(over.headers.get('retry-after')) > 3_000)
    assert.equal((await changeAddress('second@alpha.example')).status, 429, 'it would be told to both addresses')
    const { data: people } = (await alpha.call('GET', '/portal/users')).body
    const { email } = people.find(({ userId }: { userId: string }) => userId === changed.userId)
    assert.equal(email, 'first@alpha.example')
    const disable = (disabled: boolean) => alpha.call('PATCH', `/portal/users/${changed.userId}`, { disabled })
    assert.equal((await disable(true)).status, 200)
    assert.equal((await disable(false)).status, 429, 'no change without its mail')
    assert.equal((await invite(alpha, 'told')).status, 201)
    assert.equal((await invite(beta, 'other', 'other@beta.example')).status, 201)
    const { data } = (await alpha.call('GET', '/portal/invitations')).body
    assert.ok(!data.some(({ login }: { login: string }) => login === 'over'))
  } finally {
    await counted.close()
  }
})

/** Makes the person's own changes fail; one of 20 has been made: the app was set up. */
async function exhaustOwnChanges(person: Person) {
  const renew = () => person.call('POST', '/portal/mfa/recovery-codes')
  for (let renewed = 0; renewed < 19; renewed++) assert.equal((await renew()).status, 201)
  const refused = await renew()
  assert.deepEqual([refused.status, refused.body.code], [429, 'too-many'])
  assert.ok(Number(refused.headers.get('retry-after')) > 3_000)
  const changed = { current: person.password, password: `${password} anew` }
  assert.equal((await person.call('POST', '/portal/password', changed)).status, 429)
  assert.equal((await person.call('DELETE', '/portal/mfa/totp')).status, 429)
  assert.equal((await person.call('GET', '/portal/mfa')).body.recoveryCodes.left, 10, 'nothing has changed')
}

test('a person without an address makes 20 own changes an hour, too', async () => {
  const person = await openPerson(platform, { bank: 'alpha' }, 'VIEWER')
  await setUpTotp(person)
  await exhaustOwnChanges(person)
  const { body } = await manager.call('POST', `/portal/users/${person.userId}/reset-password`)
  assert.equal((await accept(body.link)).status, 201)
})

test('own changes that change nothing do not count', async () => {
  const person = await openPerson(platform, { bank: 'alpha' }, 'VIEWER')
  for (let n = 0; n < 25; n++) {
    assert.equal((await person.call('DELETE', '/portal/mfa/totp')).status, 204)
    assert.equal((await person.call('POST', '/portal/mfa/recovery-codes')).status, 409)
  }
  await setUpTotp(person)
  await exhaustOwnChanges(person)
})

test('own changes cause 20 mails an hour to a person; then they are refused, and a link still sets a new password', async () => {
  const person = await openPerson(platform, { bank: 'alpha' }, 'VIEWER')
  await setUpTotp(person)
  const email = 'often@alpha.example'
  const addressed = await manager.call('PATCH', `/portal/users/${person.userId}`, { email })
  assert.equal(addressed.status, 200, addressed.text)
  await exhaustOwnChanges(person)
  await mailsTo(email, 19)
  assert.equal((await forget(person.login)).status, 202)
  const link = (await mailsTo(email, 20)).map(linkOf).find(found => found !== '') ?? ''
  assert.equal((await accept(link)).status, 201)
  await mailsTo(email, 21)
})

test('live without a mail server: the link is told, and nothing is queued', async () => {
  const live = await startPlatform(
    { PERKLINE_MODE: 'live', PLATFORM_MFA: 'optional' },
    {
      directory: null,
      logger: createLogger('silent'),
    },
  )
  try {
    const staff = await openPerson(live, 'platform', 'admin')
    const body = { login: 'new', role: 'viewer', email: 'new@perkline.example' }
    const invited = await staff.call('POST', '/portal/invitations', body)
    assert.match(invited.body.link, /#[\w-]{43}$/)
    const [row] = await live.platform.database.query<{ count: number }>('select count(*)::int from people_mails')
    assert.equal(row?.count, 0)
  } finally {
    await live.close()
  }
})

test('tokens of links, secrets and codes are not in the database but hashed or sealed', async () => {
  const person = await openPerson(platform, { bank: 'alpha' }, 'VIEWER')
  const { secret, recoveryCodes } = await setUpTotp(person)
  const { body } = await manager.call('POST', `/portal/users/${person.userId}/reset-password`)
  const secrets = [secret, recoveryCodes[0] ?? '', tokenOfLink(body.link)]
  const tables = [
    'totp_factors',
    'recovery_codes',
    'password_resets',
    'invitations',
    'people_mails',
    'login_challenges',
  ]
  for (const table of [...tables, 'idempotency_answers', 'outbox', 'portal_users', 'sessions']) {
    const rows = await platform.platform.database.query<{ text: string }>(`select t::text as text from ${table} t`)
    for (const each of secrets) assert.ok(!rows.some(({ text }) => text.includes(each)), table)
  }
})
