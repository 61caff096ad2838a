/** The terminals of merchants as banks get them: written by an apply, and by a migration for older directories. */
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { createClock } from '../../../src/clock.ts'
import { migrate, readMigrations } from '../../../src/db/migrate.ts'
import { applyDirectory } from '../../../src/partners/operations.ts'
import { createTestDatabase, type TestDatabase } from '../../support/database.ts'

let scratch: TestDatabase
before(async () => {
  scratch = await createTestDatabase()
})
after(() => scratch.close())

const apply = (directory: string, files: Record<string, string> = {}, dryRun = false) =>
  applyDirectory(
    { database: scratch.database, clock: createClock() },
    { directory, files: new Map(Object.entries(files)), dryRun },
  )
type List = { code: string; terminals: string; count: number }
const lists = ({ database }: TestDatabase = scratch): Promise<List[]> =>
  database.query(
    `select code, terminals, terminals_count as count from merchant_terminal_lists join merchants using (merchant_id) order by code`,
  )
const listOf = async (code: string): Promise<List> => {
  const found = (await lists()).find(list => list.code === code)
  assert.ok(found)
  return found
}

const odd = 'Ї "так" \\\\ 😀'
const directory = `
merchants:
  - code: grocer
    name: Гросер
    terminals:
      - { terminalId: b, name: "Ї \\"так\\" \\\\\\\\ 😀", location: "Kyiv, Main St 1", paymentSystemMerchantId: M-77, paymentSystemMerchantName: GROCER }
      - { terminalId: a }
      - { terminalId: B, name: B }
      - { terminalId: я }
  - { code: empty, name: Empty }
`
const nothing = { terminal_name: null, terminal_location: null, merchant_id: null, merchant_name: null }
const expected = [
  { terminal_id: 'B', ...nothing, terminal_name: 'B' },
  { terminal_id: 'a', ...nothing },
  {
    terminal_id: 'b',
    terminal_name: odd,
    terminal_location: 'Kyiv, Main St 1',
    merchant_id: 'M-77',
    merchant_name: 'GROCER',
  },
  { terminal_id: 'я', ...nothing },
]

test('an apply writes each list as JSON text in the contract’s order of fields, sorted by id; an empty one too', async () => {
  await apply(directory)
  assert.deepEqual(await lists(), [
    { code: 'empty', terminals: '[]', count: 0 },
    { code: 'grocer', terminals: JSON.stringify(expected), count: 4 },
  ])
})

test('a change of terminals writes the list anew, the lists of others stay, a dry run changes nothing', async () => {
  const grocer = await listOf('grocer')
  const file = { 'shops.csv': 'terminalId,name\ns-1,One\ns-2,\n' }
  const shops = 'merchants:\n  - { code: empty, name: Empty, terminalsFile: shops.csv }\n'
  await apply(shops, file, true)
  assert.deepEqual(await listOf('empty'), { code: 'empty', terminals: '[]', count: 0 })
  await apply(shops, file)
  const two = [
    { terminal_id: 's-1', ...nothing, terminal_name: 'One' },
    { terminal_id: 's-2', ...nothing },
  ]
  assert.deepEqual(await listOf('empty'), { code: 'empty', terminals: JSON.stringify(two), count: 2 })
  await apply(shops, { 'shops.csv': 'terminalId,name\ns-2,Two\n' })
  const one = [{ terminal_id: 's-2', ...nothing, terminal_name: 'Two' }]
  assert.deepEqual(await listOf('empty'), { code: 'empty', terminals: JSON.stringify(one), count: 1 })
  await apply('merchants:\n  - { code: empty, name: Empty, terminals: [] }\n')
  assert.deepEqual(await listOf('empty'), { code: 'empty', terminals: '[]', count: 0 })
  assert.deepEqual(await listOf('grocer'), grocer)
})

test('a directory that was applied before there were lists gets the same ones by the migration', async () => {
  const old = await createTestDatabase({ migrated: false })
  try {
    const all = readMigrations()
    const isOlder = ({ version }: { version: number }) => version < 8
    await migrate(old.database, all.filter(isOlder))
    // Fills the older tables with what an apply writes into them.
    for (const table of ['merchants', 'terminals']) {
      const [row] = await scratch.database.query<{ rows: unknown }>(`select json_agg(t) as rows from ${table} t`)
      await old.database.execute(`insert into ${table} select * from json_populate_recordset(null::${table}, $1)`, [
        JSON.stringify(row?.rows),
      ])
    }
    assert.deepEqual(await lists(old), [])
    await migrate(old.database, all)
    assert.deepEqual(await lists(old), await lists())
  } finally {
    await old.close()
  }
})
