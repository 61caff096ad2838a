/** The operator's list of all banks' statements: page by page, without loss, when a range of days has more than 1,000. */
import assert from 'node:assert/strict'
import { after, before, suite, test } from 'node:test'
import { type Answer, startPlatform, type TestPlatform } from '../../support/platform.ts'
import { addStatements, withManyBanks } from '../../support/statements.ts'

// In the future, so that no bank has a day that should be closed.
const days = { from: '2054-12-01', to: '2054-12-31' }
const range = new URLSearchParams(days).toString()
/** 40 banks, of which 38 have a statement for each day of the month. */
const all = 38 * 31

let platform: TestPlatform
before(async () => {
  platform = await startPlatform({}, { directory: withManyBanks(40) })
  await addStatements(platform, { banks: 38, ...days })
})
after(() => platform.close())

const get = (query: string): Promise<Answer> =>
  platform.call('GET', `/admin/statements?${query}`, { token: platform.config.operatorKey })
async function ok(query: string): Promise<any> {
  const answer = await get(query)
  assert.equal(answer.status, 200, answer.text)
  return answer.body
}
const placeOf = ({ day, bank }: any): string => `${day} ${bank.code}`
async function allPages(query: string): Promise<any[][]> {
  const pages: any[][] = []
  for (let cursor: string | null = ''; cursor !== null; ) {
    const page: any = await ok(`${query}${cursor && `&cursor=${cursor}`}`)
    pages.push(page.data)
    cursor = page.nextCursor
  }
  return pages
}

suite('statements of all banks', () => {
  test('that are more than 1,000 come page by page, each once, newest first and then by the bank’s code', async () => {
    const pages = await allPages(`${range}&limit=200`)
    assert.deepEqual(
      pages.map(page => page.length),
      [200, 200, 200, 200, 200, 178],
    )
    const places = pages.flat().map(placeOf)
    assert.equal(new Set(places).size, all)
    const days = [...new Set(pages.flat().map(({ day }) => day))]
    assert.deepEqual(days, days.toSorted().reverse())
    assert.deepEqual(
      pages
        .flat()
        .filter(({ day }) => day === '2054-12-05')
        .map(({ bank }) => bank.code),
      pages
        .flat()
        .filter(({ day }) => day === '2054-12-06')
        .map(({ bank }) => bank.code)
        .toSorted(),
    )
  })

  test('without a limit are the newest 1,000, with a cursor to the others', async () => {
    const first = await ok(range)
    assert.equal(first.data.length, 1_000)
    assert.deepEqual(first.missing, [])
    const rest = await ok(`${range}&cursor=${first.nextCursor}`)
    assert.equal(rest.data.length, all - 1_000)
    assert.equal(rest.nextCursor, null)
    assert.equal(new Set([...first.data, ...rest.data].map(placeOf)).size, all)
  })

  test('of a range that ends before it begins are refused by 400, also for an unknown bank', async () => {
    for (const bank of ['bank-007', 'no-such-bank'])
      assert.equal((await get(`from=2054-12-31&to=2054-12-01&bank=${bank}`)).status, 400, bank)
    assert.equal((await get(`${range}&bank=no-such-bank`)).status, 404)
  })

  test('of one bank come page by page, too', async () => {
    const pages = await allPages(`${range}&bank=bank-007&limit=20`)
    assert.deepEqual(
      pages.map(page => page.length),
      [20, 11],
    )
    assert.ok(pages.flat().every(({ bank }) => bank.code === 'bank-007'))
  })

  test('need a cursor of the same filters, and a limit of 1 to 1,000', async () => {
    const { nextCursor } = await ok(`${range}&limit=5`)
    for (const query of [
      `${range}&bank=bank-007&cursor=${nextCursor}`,
      `cursor=${nextCursor}`,
      `${range}&cursor=x`,
      `${range}&limit=0`,
      `${range}&limit=1001`,
    ])
      assert.equal((await get(query)).status, 400, query)
  })

  test('that the second page lists are of the first page’s days, also after midnight', async () => {
    const move = async (now: string) =>
      assert.equal(
        (await platform.call('POST', '/sandbox/clock', { token: platform.config.operatorKey, body: { now } })).status,
        200,
      )
    await move('2054-12-31T12:00:00Z')
    const first = await ok('limit=1000')
    await move('2055-01-01T00:00:10Z')
    const rest = await ok(`limit=1000&cursor=${first.nextCursor}`)
    assert.equal(first.data.length + rest.data.length, all)
  })
})
