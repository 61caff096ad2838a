/**
 * Cursors that a caller makes itself, which is possible because their digest needs no secret key (contract/partner-api.md,
 * "Lists").
 */
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { type ListScope, type Position, writeCursor } from '../../../src/partner/lists.ts'
import { startPlatform, type TestPlatform } from '../../support/platform.ts'

let platform: TestPlatform
let token: string
let account: ListScope['account']
before(async () => {
  platform = await startPlatform()
  token = await platform.bankToken()
  const [row] = await platform.platform.database.query<{ id: string }>(
    `select bank_id as id from banks where code = 'alpha'`,
  )
  account = { type: 'bank', id: row?.id ?? '' }
})
after(() => platform.close())

const lists: [path: string, list: string, sort?: string][] = [
  ['/orders', 'orders', '-createdAt'],
  ['/orders?sort=confirmedAt', 'orders', 'confirmedAt'],
  ['/statements', 'statements'],
  ['/audit-log', 'audit-log'],
  ['/audit-log/checkpoints', 'audit-checkpoints'],
  ['/webhook-deliveries', 'webhook-deliveries'],
  ['/webhook-endpoints', 'webhook-endpoints'],
]
const id = '9b2f1c52-6a3e-4d53-9d0f-2f8f7f0c6b11'
const positions: Position[] = [
  ['x'],
  [-1],
  [1.5],
  [1e300],
  [null as never],
  [{} as never],
  ['x', 'y'],
  ['x', id],
  ['9999-99-99T00:00:00.000Z', id],
  ['2026-02-30T00:00:00.000Z', id],
  ['2026-02-03T00:00:00.000Z', 'x'],
  [1, 'x'],
  [1, '2026-02-30', '2026-03-02'],
  [1, '2026-03-02', '2026-03-01'],
  [id, id, id],
  ['\0'],
]
const withCursor = (path: string, cursor: string) =>
  platform.call('GET', `/partner/v1${path}${path.includes('?') ? '&' : '?'}cursor=${cursor}`, { token })

test('one with a right digest and keys that fit no item is refused', async () => {
  for (const [path, list, sort] of lists)
    for (const position of positions) {
      const scope = { list, account, filters: {}, ...(sort && { sort }) }
      const { status, body } = await withCursor(path, writeCursor(scope, position))
      assert.deepEqual([status, body.code], [400, 'invalid'], `${path} ${JSON.stringify(position)}`)
    }
})

test('one whose keys get longer when they are written again is refused', async () => {
  const keys = Buffer.from(`[${Array(30).fill('1e20').join(',')}]`).toString('base64url')
  for (const [path] of lists) assert.equal((await withCursor(path, `${keys}.x`)).status, 400, path)
})

test('one with keys that fit is read, also where no item is', async () => {
  const most = Number.MAX_SAFE_INTEGER
  const fitting: Position[] = [
    [id],
    ['2026-02-03T00:00:00.000Z', id],
    [most, '2026-02-01', '2026-03-02'],
    [most],
    ['2026-02-03T00:00:00.000Z'],
    [id],
    [most, id],
  ]
  for (const [index, [path, list, sort]] of lists.entries()) {
    const cursor = writeCursor({ list, account, filters: {}, ...(sort && { sort }) }, fitting[index] ?? [])
    const { status, text } = await withCursor(path, cursor)
    assert.equal(status, 200, `${path} ${text}`)
  }
})
