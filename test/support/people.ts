/** People at the platform: how they log in, set up a second factor and read their mails. */
import assert from 'node:assert/strict'
import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { Secret, TOTP } from 'otpauth'
import type { UserOwner } from '../../src/access/operations.ts'
import { leaves, readMime } from './mime.ts'
import type { Answer, TestPlatform } from './platform.ts'
import { type Account, addAccount } from './portal.ts'

export type Person = Account & {
  userId: string
  token: string
  call(method: string, path: string, body?: unknown, headers?: Record<string, string>): Promise<Answer>
}

/** A new person with a token of `POST /auth/login`. */
export async function openPerson(at: TestPlatform, owner: UserOwner, role: string): Promise<Person> {
  return logInAs(at, await addAccount(at, owner, role))
}

export async function logInAs(at: Pick<TestPlatform, 'call'>, account: Account, otp?: string): Promise<Person> {
  const { typeAccount, login, password } = account
  const body = { typeAccount, login, password, ...(otp && { otp }) }
  const answer = await at.call('POST', '/auth/login', { body })
  assert.equal(answer.status, 200, answer.text)
  const token = answer.body.access_token as string
  const { sub } = JSON.parse(Buffer.from(token.split('.')[1] ?? '', 'base64url').toString())
  return { typeAccount, login, password, userId: sub, token, call: callerWith(at, token) }
}

export const callerWith =
  (at: Pick<TestPlatform, 'call'>, token: string): Person['call'] =>
  (method, path, body, headers = {}) =>
    at.call(method, path, { token, headers, ...(body !== undefined && { body }) })

/**
 * A code of an authenticator app.
 * @param steps how many steps of 30 seconds from now; negative: before now
 */
export const codeOf = (secret: string, steps = 0): string =>
  new TOTP({ secret: Secret.fromBase32(secret) }).generate({ timestamp: Date.now() + steps * 30_000 })

/** Sets up an authenticator app. @returns its secret and the recovery codes */
export async function setUpTotp(person: Person): Promise<{ secret: string; recoveryCodes: string[] }> {
  const begun = await person.call('POST', '/portal/mfa/totp')
  assert.equal(begun.status, 200, begun.text)
  const { secret } = begun.body
  // Uses the code of the previous step, so that the code of the present step can still be used for a login.
  const confirmed = await person.call('POST', '/portal/mfa/totp/confirm', { code: codeOf(secret, -1) })
  assert.equal(confirmed.status, 200, confirmed.text)
  return { secret, recoveryCodes: confirmed.body.recoveryCodes }
}

let logins = 0
/** Returns a login that nobody has. */
export const newLogin = (): string => `invited-${++logins}`

/**
 * Invites a person, who accepts with this password.
 * @param query the query of the address; `?bank=alpha` invites into that account instead of the account of `manager`
 */
export async function inviteAndJoin(
  at: Pick<TestPlatform, 'call'>,
  manager: Person,
  { role, query = '', password }: { role: string; query?: string; password: string },
): Promise<Person> {
  const login = newLogin()
  const invited = await manager.call('POST', `/portal/invitations${query}`, { login, role })
  assert.equal(invited.status, 201, invited.text)
  const body = { token: tokenOfLink(invited.body.link), password }
  const joined = await at.call('POST', '/portal/invitations/accept', { body })
  assert.equal(joined.status, 201, joined.text)
  assert.equal(joined.headers.get('set-cookie'), null)
  return logInAs(at, { typeAccount: joined.body.typeAccount, login, password })
}

export const tokenOfLink = (link: string): string => link.split('#')[1] ?? ''

type MailText = { to: string; subject: string; text: string; html: string }

/** The mails that were read already, by path of the file. Tests look for new mails several times a second. */
const readMails = new Map<string, MailText>()

/** The texts of the mails to people in a sandbox's folder, oldest first. */
export async function mailTexts(at: Pick<TestPlatform, 'dataDir'>): Promise<MailText[]> {
  const folder = join(at.dataDir, 'mail')
  const names = await readdir(folder).catch(() => [])
  const mails = names.filter(name => name.startsWith('people-') && name.endsWith('.eml'))
  return Promise.all(mails.map(name => readMail(join(folder, name))))
}

async function readMail(file: string): Promise<MailText> {
  const found = readMails.get(file)
  if (found) return found
  const message = readMime(await readFile(file))
  const [text, html] = leaves(message)
  const mail = {
    to: message.headers.get('to') ?? '',
    subject: message.headers.get('subject') ?? '',
    text: text?.content.toString() ?? '',
    html: html?.content.toString() ?? '',
  }
  // A file without its content is still being written.
  if (mail.html !== '') readMails.set(file, mail)
  return mail
}
