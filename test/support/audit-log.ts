/** Reads the audit log for tests. */
import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { setTimeout as wait } from 'node:timers/promises'
import { addUser } from '../../src/access/operations.ts'
import type { TestPlatform } from './platform.ts'

const password = 'correct horse battery staple'

/** Adds a user of the platform, who may read the entries of all accounts. @returns a token of this user */
export async function platformUserToken(platform: TestPlatform, role: 'admin' | 'viewer' = 'viewer'): Promise<string> {
  const login = `auditor-${role}`
  await addUser({ database: platform.platform.database }, { owner: 'platform', role, login, password })
  return tokenOfUser(platform, 'platform', login)
}

export async function tokenOfUser(platform: TestPlatform, typeAccount: string, login: string): Promise<string> {
  const { status, body, text } = await platform.call('POST', '/auth/login', { body: { typeAccount, login, password } })
  assert.equal(status, 200, text)
  return body.access_token
}

/** Waits until the audit log contains all entries that were written to the outbox. */
export async function chained(platform: TestPlatform): Promise<void> {
  const { database } = platform.platform
  for (let attempt = 0; attempt < 100; attempt++) {
    const [row] = await database.query<{ told: number; kept: number }>(
      `select (select count(*)::int from outbox where kind = 'audit') as told, (select count(*)::int from audit_log) as kept`,
    )
    if (row?.told === row?.kept) return
    await wait(50)
  }
  assert.fail('Entries are not chained')
}

/** Waits until all entries are chained, then reads up to 500 entries as this caller. @returns them, oldest first */
export async function readEntries(platform: TestPlatform, token: string, query = ''): Promise<any[]> {
  await chained(platform)
  const { status, body, text } = await platform.call('GET', `/partner/v1/audit-log?limit=500${query}`, { token })
  assert.equal(status, 200, text)
  return body.data.toReversed()
}

type Row = { seq: number; accountSeq: number; account: string; entry: string; accountHash: Buffer; hash: Buffer }

/**
 * Checks the hashes of all entries: the chain over the whole log, and the chain of each account. It computes them as the
 * contract describes, without the platform's code.
 */
export async function assertChained(platform: TestPlatform): Promise<Row[]> {
  const rows = await platform.platform.database.query<Row>(
    `select seq, account_seq as "accountSeq", account_type || account_id as account, entry, account_hash as "accountHash", hash
     from audit_log order by seq`,
  )
  const accounts = new Map<string, { seq: number; hash: Buffer }>()
  let previous = Buffer.alloc(32)
  for (const [index, row] of rows.entries()) {
    assert.equal(row.seq, index + 1)
    const before = accounts.get(row.account) ?? { seq: 0, hash: Buffer.alloc(32) }
    assert.equal(row.accountSeq, before.seq + 1)
    assert.equal(JSON.parse(row.entry).accountSeq, row.accountSeq)
    const accountHash = createHash('sha256')
      .update(Buffer.concat([before.hash, Buffer.from(row.entry)]))
      .digest()
    assert.deepEqual(row.accountHash, accountHash)
    const number = Buffer.from(row.seq.toString(16).padStart(16, '0'), 'hex')
    const hash = createHash('sha256')
      .update(Buffer.concat([previous, number, accountHash]))
      .digest()
    assert.deepEqual(row.hash, hash)
    accounts.set(row.account, { seq: row.accountSeq, hash: accountHash })
    previous = hash
  }
  return rows
}
