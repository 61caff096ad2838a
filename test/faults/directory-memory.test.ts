/** A directory file with very many errors, or that needs more memory than there is (contract/operations.md, "The directory file"). */
import assert from 'node:assert/strict'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { createTestDatabase, type TestDatabase } from '../support/database.ts'
import { callAt, type PerklineProcess, type Settings, sharedSettings, startProcess } from '../support/process.ts'

let database: TestDatabase
let folder: string
let settings: Settings
let perkline: PerklineProcess
before(async () => {
  database = await createTestDatabase()
  folder = await mkdtemp(join(tmpdir(), 'perkline-directory-'))
  settings = { ...sharedSettings(database.url, folder), NODE_OPTIONS: '--max-old-space-size=384' }
  perkline = await startProcess(settings)
})
after(async () => {
  await perkline.kill()
  await database.close()
  await rm(folder, { recursive: true, force: true, maxRetries: 5, retryDelay: 100 })
})

const send = (body: object) =>
  callAt(perkline.url, 120_000)('POST', '/admin/directory?dryRun=true', { token: settings.OPERATOR_KEY ?? '', body })

test('millions of errors in terminals files are counted, and only the first are kept', async () => {
  const lines = 200_000
  const record = `${Array(5).fill('a\u202e').join()}\n`
  const header = 'terminalId,name,location,paymentSystemMerchantId,paymentSystemMerchantName\n'
  const merchants = [1, 2, 3, 4].map(n => `{ code: m${n}, name: M, terminalsFile: t.csv }`)
  const { status, body } = await send({
    directory: `merchants: [${merchants}]`,
    files: { 't.csv': header + record.repeat(lines) },
  })
  assert.equal(status, 400, JSON.stringify(body).slice(0, 1_000))
  // Each value has an error, and each id but the first is repeated.
  const errors = merchants.length * (6 * lines - 1)
  const { message, problems, problemCount } = body
  assert.deepEqual(
    [message.length, message.at(-1), problems.length, problemCount],
    [10_001, `... and ${errors - 10_000} more errors`, 20, errors],
  )
})

test('a file that needs more memory than there is, is refused with a text', async () => {
  const { status, body } = await send({ directory: `banks: [${Array(3_000_000).fill(1)}]` })
  assert.deepEqual(
    [status, body.code, body.message],
    [413, 'too-large', 'The directory needs more memory than the platform has: send its entries in several requests'],
  )
  assert.equal((await send({ directory: 'banks: []' })).status, 200)
})
