/** A person's browser: it keeps the session cookie, and sends the headers that say where each request comes from. */
import assert from 'node:assert/strict'
import { addUser, type UserOwner } from '../../src/access/operations.ts'
import type { Answer, CallOptions, TestPlatform } from './platform.ts'

export type Browser = {
  /** The cookie in the form `name=value`; '' without one. */
  cookie: string
  call(method: string, path: string, options?: CallOptions): Promise<Answer>
}

export type Account = { typeAccount: 'bank' | 'retailer' | 'platform'; login: string; password: string }

let users = 0

/** A new portal user and its login data. */
export async function addAccount(at: TestPlatform, owner: UserOwner, role: string): Promise<Account> {
  const login = `user-${++users}`
  const password = `the password of ${login}`
  await addUser({ database: at.platform.database }, { owner, login, role, password })
  const typeAccount = owner === 'platform' ? 'platform' : 'bank' in owner ? 'bank' : 'retailer'
  return { typeAccount, login, password }
}

/** The browser of a new user who has just logged in. */
export async function openBrowser(at: TestPlatform, owner: UserOwner, role: string): Promise<Browser> {
  const account = await addAccount(at, owner, role)
  const answer = await at.call('POST', '/portal/session', { body: account })
  assert.equal(answer.status, 200, answer.text)
  return browserWith(at, cookieOf(answer))
}

export function browserWith(at: Pick<TestPlatform, 'call'>, cookie: string): Browser {
  return {
    cookie,
    call: (method, path, options = {}) =>
      at.call(method, path, {
        ...options,
        headers: { ...(cookie && { cookie }), 'sec-fetch-site': 'same-origin', ...options.headers },
      }),
  }
}

/** The cookie that an answer sets, in the form in which a browser sends it. */
export function cookieOf(answer: Answer): string {
  const [cookie = ''] = answer.headers.getSetCookie()
  return cookie.split(';', 1)[0] ?? ''
}
