/**
 * What the operator does with the stock: imports, withdrawals, counts, and sealing again (contract/operations.md, "The
 * stock file").
 */
import assert from 'node:assert/strict'
import { randomBytes, randomUUID } from 'node:crypto'
import { Readable } from 'node:stream'
import { after, before, beforeEach, describe, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { profileLines } from '../../../samples/make-profiles.ts'
import { createClock } from '../../../src/clock.ts'
import { DomainError } from '../../../src/errors.ts'
import { newOrderId } from '../../../src/esim/orders/order-id.ts'
import { reserve } from '../../../src/esim/orders/reserve-store.ts'
import { countStock } from '../../../src/esim/sold/figures-store.ts'
import { importProfiles, rotateKeys } from '../../../src/esim/stock/operations.ts'
import { readPace } from '../../../src/esim/stock/pace-store.ts'
import { createSealing, loadIndexKey, type Sealing } from '../../../src/esim/stock/sealing.ts'
import { replaceSealed, type SealedProfile } from '../../../src/esim/stock/store.ts'
import { withdrawProfiles } from '../../../src/esim/stock/withdrawal.ts'
import { applyDirectory } from '../../../src/partners/operations.ts'
import { SealingError } from '../../../src/sealing.ts'
import { createTestDatabase, type TestDatabase } from '../../support/database.ts'
import { until } from '../../support/esim.ts'

let scratch: TestDatabase
let sealing: Sealing
const masterKeys = [randomBytes(32)]
const clock = createClock()
const bank = randomUUID()
const deps = () => ({ database: scratch.database, clock, sealing })
const query = <Row extends object>(text: string, values?: unknown[]) => scratch.database.query<Row>(text, values)

before(async () => {
  scratch = await createTestDatabase()
  sealing = createSealing(masterKeys, await loadIndexKey(scratch.database, masterKeys))
  const tariffs = ['a', 'b'].map(code => `{ code: ${code}, name: T, price: 1, currency: UAH, validityDays: 1 }`)
  const directory = `
banks: [{ code: alpha, name: Alpha, id: ${bank} }]
esim: { operators: [{ code: star, nameUk: Зоря, country: UA, tariffs: [${tariffs.join(', ')}] }] }`
  await applyDirectory(deps(), { directory, files: new Map(), dryRun: false })
})
after(() => scratch.close())
beforeEach(async () => {
  await scratch.database.execute(
    `truncate orders, profiles, returned_profiles, stock_positions, outbox, sales_days, sales_hours, tariff_sales_days,
       tariff_sales_hours, tariff_sales, tariff_stock restart identity cascade`,
  )
})

const [header = '', ...lines] = profileLines({ count: 60, seed: 9000 })
const iccidOf = (line = ''): string => line.slice(0, line.indexOf(','))
const iccids = lines.map(iccidOf)
const bad = lines.map(line => line.replace(/^\d/, 'x'))

async function load(text: string | Readable | string[], options: { tariffId?: number; skipInvalid?: boolean } = {}) {
  const source = text instanceof Readable ? text : Readable.from([text].flat().map(part => Buffer.from(part)))
  const { tariffId = 1, skipInvalid = false } = options
  const { rejects, ...counts } = await importProfiles(deps(), { tariffId, source, skipInvalid })
  return { ...counts, rejects: [...rejects] }
}

async function refusalOf(work: Promise<unknown>): Promise<DomainError> {
  const error = await work.then(
    () => assert.fail('it was done'),
    (error: unknown) => error,
  )
  assert.ok(error instanceof DomainError, String(error))
  return error
}

const sealedProfile = 'profile_id as "profileId", tariff_id as "tariffId", iccid_hash as "iccidHash", sealed'
const stored = async () => (await query<{ count: number }>('select count(*) from profiles'))[0]?.count

describe('import', () => {
  test('profiles are loaded in the order of the file, their secrets sealed', async () => {
    const { rejects, ...counts } = await load([header, ...lines])
    assert.deepEqual(counts, { imported: 60, duplicates: 0, rejected: 0 })
    assert.deepEqual(rejects, [])
    const rows = await query<SealedProfile & { msisdn: string; row: string }>(
      `select ${sealedProfile}, msisdn, p::text as row from profiles p order by profile_id`,
    )
    const opened = rows.map(row => ({ ...sealing.open(row.sealed, row), msisdn: row.msisdn }))
    assert.deepEqual(
      opened.map(({ iccid, msisdn, pin1, activationCode }) => `${[iccid, msisdn, pin1, activationCode].join(',')}\n`),
      lines,
    )
    for (const [index, { row }] of rows.entries())
      for (const secret of [iccids[index], opened[index]?.activationCode, 'smdp'])
        assert.ok(secret && !row.includes(secret) && !row.includes(Buffer.from(secret).toString('hex')))
  })

  test('a profile that comes twice, or is in stock under any tariff, is a duplicate and is not overwritten', async () => {
    await load([header, ...lines.slice(0, 10)], { tariffId: 2 })
    const before = await query('select * from profiles order by profile_id')
    const other = lines[3]?.replace(/,\+\d+,/, ',+380001,') ?? ''
    const { duplicateLines = [], ...counts } = await load([
      header,
      other,
      ...lines.slice(5, 20),
      ...lines.slice(15, 20),
    ])
    assert.deepEqual(counts, { imported: 10, duplicates: 11, rejected: 0, rejects: [] })
    assert.deepEqual(
      duplicateLines.map(({ lineNumber }) => lineNumber),
      [2, 3, 4, 5, 6, 7, 18, 19, 20, 21, 22],
    )
    assert.deepEqual(await query('select * from profiles where tariff_id = 2 order by profile_id'), before)
  })

  test('the lines of the first 20 duplicates are named, and all are counted', async () => {
    await load([header, ...lines])
    const { duplicates, duplicateLines = [] } = await load([header, ...lines.slice(0, 30), 'x\n', ...lines.slice(30)], {
      skipInvalid: true,
    })
    assert.deepEqual([duplicates, duplicateLines.length, duplicateLines.at(-1)?.lineNumber], [60, 20, 21])
  })

  test('small imports leave no gaps between the ids, because random samples are drawn by id', async () => {
    await load([header, ...lines.slice(0, 10)])
    await load([header, ...lines.slice(10, 30)], { tariffId: 2 })
    const [row] = await query<{ ids: number }>('select max(profile_id) - min(profile_id) + 1 as ids from profiles')
    assert.equal(row?.ids, 30)
  })

  test('one bad line: nothing is imported, and it is named by its line', async () => {
    const error = await refusalOf(load([header, lines[0] ?? '', 'x,1\n', bad[1] ?? '', ...lines.slice(2)]))
    assert.equal(error.code, 'invalid')
    assert.deepEqual(error.details, [
      'line 3: must have four columns, as the header has',
      'line 4, column iccid: must be 18 to 20 digits',
      '2 errors in all: nothing was imported',
    ])
    assert.equal(await stored(), 0)
  })

  test('the first 20 faults are named, and the whole file is counted', async () => {
    const error = await refusalOf(load([header, ...bad.slice(0, 50), ...lines, ...bad.slice(0, 5)]))
    assert.ok(Array.isArray(error.details))
    assert.equal(error.details.length, 21)
    assert.match(error.details[19] ?? '', /^line 21, /)
    assert.equal(error.details[20], '... and 35 more errors; 55 errors in all: nothing was imported')
    const last = { line: 21, column: 'iccid', rule: 'iccid-digits', params: {}, value: null }
    assert.deepEqual([error.problems?.length, error.problems?.at(-1), error.problemCount], [20, last, 55])
  })

  test('with skipInvalid the good lines go in, and each bad one is told by line, column and reason', async () => {
    const counts = await load([header, bad[0] ?? '', ...lines.slice(0, 5), '\n', 'x\n'], { skipInvalid: true })
    assert.deepEqual(counts, {
      imported: 5,
      duplicates: 0,
      rejected: 2,
      rejects: [
        { lineNumber: 2, column: 'iccid', rule: 'iccid-digits', reason: 'must be 18 to 20 digits' },
        { lineNumber: 9, column: 'line', rule: 'column-count', reason: 'must have four columns, as the header has' },
      ],
    })
  })

  test('a hundred thousand bad lines are all told', async () => {
    const many = Readable.from([header, ...Array.from({ length: 1_000 }, () => 'x\n'.repeat(100))].map(Buffer.from))
    const { rejected, rejects } = await load(many, { skipInvalid: true })
    assert.equal(rejected, 100_000)
    assert.deepEqual(
      [rejects[0]?.lineNumber, rejects[65_536]?.lineNumber, rejects.at(-1)?.lineNumber],
      [2, 65_538, 100_001],
    )
  })

  test('no secret of a bad line is in the message', async () => {
    const [line = ''] = lines
    const { details } = await refusalOf(load([header, line.replace(/,\+\d+,/, ',,'), bad[0] ?? '']))
    assert.doesNotMatch(String(details), new RegExp(`${iccidOf(line).slice(1)}|smdp`))
  })

  test('a file without its header, or with nothing in it, is refused', async () => {
    assert.match(String((await refusalOf(load(lines))).details), /^line 1 must be the header/)
    assert.match(String((await refusalOf(load([]))).details), /empty/)
    assert.deepEqual(await load(header), { imported: 0, duplicates: 0, rejected: 0, rejects: [] })
  })

  test('a header without commas is in the error, so that the portal can say so; a profile in its place is not', async () => {
    const shownOf = async (text: string) => (await refusalOf(load([text, ...lines]))).problems?.[0]?.value
    const semicolons = header.trim().replaceAll(',', ';')
    assert.equal(await shownOf(`${semicolons}\n`), semicolons)
    assert.equal(await shownOf('iccid,msisdn\n'), null)
    assert.equal(await shownOf(lines[0] ?? ''), null)
  })

  test('a workbook, UTF-16 and other bytes that are no UTF-8 text are told from a wrong header', async () => {
    const text = header + lines.join('')
    const files = {
      workbook: Buffer.from('PK\u0003\u0004\u0014\u0000[Content_Types].xml\n', 'latin1'),
      utf16: Buffer.from(`\ufeff${text}`, 'utf16le'),
      utf16WithoutMark: Buffer.from(text, 'utf16le'),
      windows1251: Buffer.from('\u00ed\u00ee\u00ec\u00e5\u00f0,', 'latin1'),
    }
    for (const [what, bytes] of Object.entries(files)) {
      const error = await refusalOf(load(Readable.from([bytes])))
      assert.deepEqual([error.problems?.[0]?.line, error.problems?.[0]?.rule], [1, 'utf8'], what)
      assert.match(String(error.details), /^line 1 must be UTF-8 text/)
    }
  })

  test('a source that breaks off leaves nothing', async () => {
    const source = async function* () {
      yield Buffer.from(header + lines.join(''))
      await sleep(20)
      throw Object.assign(new Error('aborted'), { code: 'ECONNRESET' })
    }
    const error = await refusalOf(load(Readable.from(source())))
    assert.deepEqual(
      [error.code, error.details],
      ['invalid', 'The file could not be read to its end; nothing was imported'],
    )
    assert.equal(await stored(), 0)
  })

  test('a database that goes away meanwhile leaves nothing, and the caller is told to come again', async () => {
    const source = async function* () {
      yield Buffer.from(header + lines.slice(0, 30).join(''))
      const copying = `from pg_stat_activity where datname = current_database() and query like 'copy staged%'`
      await until('the import copies', async () => (await query(`select ${copying}`)).length === 1)
      assert.equal((await query(`select pg_terminate_backend(pid) ${copying}`)).length, 1)
      for (const line of lines.slice(30)) yield Buffer.from(line)
    }
    assert.equal((await refusalOf(load(Readable.from(source())))).code, 'unavailable')
    assert.equal(await stored(), 0)
    assert.equal((await load([header, ...lines])).imported, 60)
  })

  test('an import that another one overtook gets later ids: sales see the ids of a tariff in their order', async () => {
    const [slow, quick] = [lines.slice(0, 30), lines.slice(30)]
    let overtaken = false
    const source = Readable.from(
      (async function* () {
        yield `${header}${slow.slice(0, 10).join('')}`
        await load([header, ...quick])
        overtaken = true
        yield slow.slice(10).join('')
      })(),
    )
    const { imported } = await importProfiles(
      { database: scratch.database, clock, sealing },
      { tariffId: 1, source, skipInvalid: false },
    )
    assert.ok(overtaken)
    assert.equal(imported, 30)
    const rows = await query<SealedProfile>(`select ${sealedProfile} from profiles order by profile_id`)
    assert.deepEqual(
      rows.map(row => sealing.open(row.sealed, row).iccid),
      [...iccids.slice(30), ...iccids.slice(0, 30)],
    )
  })

  test('imports of the same profiles at once: each profile once, nobody fails', async () => {
    const reversed = lines.toReversed()
    const counts = await Promise.all([
      load([header, ...lines]),
      load([header, ...reversed], { tariffId: 2 }),
      load([header, ...lines.slice(20), ...lines.slice(0, 20)]),
    ])
    assert.deepEqual(counts.map(({ imported }) => imported).sort(), [0, 0, 60])
  })
})

const order = (profileId: number, externalId: string, now: Date, minutes = 15) => ({
  orderId: newOrderId(now),
  bankId: bank,
  externalId,
  tariffId: 1,
  profileId,
  price: '1.00',
  currency: 'UAH',
  now,
  reservedUntil: new Date(now.getTime() + minutes * 60_000),
  caller: 'system:pk_test',
})

/** Profiles 1 (reserved), 2 (sold), 3 (with an expired reservation), 4 (returned); all others are free. */
async function sellSome(): Promise<void> {
  const now = clock.now()
  await load([header, ...lines])
  await reserve(
    scratch.database,
    [1, 2, 4].map(profile => order(profile, `e${profile}`, now)),
  )
  await reserve(scratch.database, [order(3, 'e3', new Date(now.getTime() - 3_600_000))])
  await query(
    `update orders set status = 'confirmed', confirmed_at = now(), delivery_mode = 'local' where external_id = 'e2'`,
  )
  await query(`update orders set status = 'cancelled', cancelled_at = now() where external_id = 'e4'`)
  await query('insert into returned_profiles values (4, 1)')
}

const stockOf = async (tariffCode = 'a') =>
  (await countStock(scratch.database, clock.now())).find(count => count.tariffCode === tariffCode)

describe('stock', () => {
  test('every tariff is counted, also an empty one; a reservation that is over is free', async () => {
    await sellSome()
    assert.deepEqual(await countStock(scratch.database, clock.now()), [
      { operatorCode: 'star', tariffCode: 'a', free: 58, reserved: 1, sold: 1, withdrawn: 0 },
      { operatorCode: 'star', tariffCode: 'b', free: 0, reserved: 0, sold: 0, withdrawn: 0 },
    ])
  })
})

test('looking for the last import of a tariff without stock does not read the stock of others', async () => {
  await scratch.database.execute(
    `insert into profiles (tariff_id, iccid_hash, msisdn, sealed, imported_at)
     select 1, int4send(n), '+' || 380670000000 + n, '', '2026-01-01T00:00:00Z'::timestamptz + n * interval '1 second'
     from generate_series(1, 5000) as n`,
  )
  await scratch.database.execute('analyze profiles')
  const { paces, read } = await scratch.database.transaction(async transaction => {
    const readSoFar = async () => {
      const [row] = await transaction.query<{ read: number }>(
        `select seq_tup_read + idx_tup_fetch as read from pg_stat_xact_user_tables where relname = 'profiles'`,
      )
      return row?.read ?? 0
    }
    const before = await readSoFar()
    return { paces: await readPace(transaction, clock.now()), read: (await readSoFar()) - before }
  })
  assert.deepEqual(
    paces.map(({ tariffCode, importedAt }) => [tariffCode, importedAt?.toISOString() ?? null]),
    [
      ['a', '2026-01-01T01:23:20.000Z'],
      ['b', null],
    ],
  )
  assert.ok(read <= 10, `${read} profiles were read`)
})

describe('withdraw', () => {
  test('free profiles go out of sale, also given back and lapsed ones; others are counted', async () => {
    await sellSome()
    const given = [...iccids.slice(0, 6), '8999900000000000000', 'no ICCID', iccids[5] ?? '']
    const { problems, ...counts } = await withdrawProfiles(deps(), { iccids: given })
    assert.deepEqual(counts, { withdrawn: 4, notFree: 4 })
    const told = problems.map(({ iccid, line, reason }) => [given[line - 1]?.endsWith(iccid), reason])
    assert.deepEqual(told.sort(), [
      [true, 'reserved'],
      [true, 'sold'],
      [true, 'unknown'],
      [true, 'unknown'],
    ])
    for (const { iccid } of problems) assert.equal(iccid.length, 4)
    assert.deepEqual(await stockOf(), {
      operatorCode: 'star',
      tariffCode: 'a',
      free: 54,
      reserved: 1,
      sold: 1,
      withdrawn: 4,
    })
    assert.deepEqual(await query('select * from returned_profiles'), [])
    const again = await withdrawProfiles(deps(), { iccids: given })
    assert.deepEqual([again.withdrawn, again.notFree], [0, 8])
    assert.equal(again.problems.filter(({ reason }) => reason === 'withdrawn').length, 4)
    const made = await reserve(scratch.database, [order(6, 'e6', clock.now())])
    assert.equal(made[0]?.outcome, 'not-made')
  })

  test('a withdrawal and a sale at once: exactly one gets the profile', async () => {
    await load([header, ...lines])
    const now = clock.now()
    const outcomes = await Promise.all(
      iccids.map(async (iccid, index) => {
        const sale = () => reserve(scratch.database, [order(index + 1, `r${index}`, now)])
        const withdrawal = () => withdrawProfiles(deps(), { iccids: [iccid] })
        const [made, taken] =
          index % 2
            ? await Promise.all([sale(), withdrawal()])
            : await Promise.all([withdrawal(), sale()]).then(([t, m]) => [m, t] as const)
        return Number(made[0]?.outcome === 'made') + taken.withdrawn
      }),
    )
    assert.deepEqual(
      outcomes,
      iccids.map(() => 1),
    )
    const stock = await stockOf()
    assert.equal((stock?.reserved ?? 0) + (stock?.withdrawn ?? 0), 60)
  })
})

describe('sealing anew', () => {
  test('every profile and the index key come under the first key, and the others can be taken away', async () => {
    await load([header, ...lines])
    const keys = [randomBytes(32), ...masterKeys]
    const rotated = createSealing(keys, await loadIndexKey(scratch.database, keys))
    const steps: { done: number; total: number }[] = []
    const given = { database: scratch.database, sealing: rotated, masterKeys: keys }
    assert.deepEqual(await rotateKeys(given, { onProgress: step => steps.push(step) }), { resealed: 60 })
    assert.deepEqual(steps, [{ done: 60, total: 60 }])

    const alone = keys.slice(0, 1)
    const later = createSealing(alone, await loadIndexKey(scratch.database, alone))
    const rows = await query<SealedProfile>(`select ${sealedProfile} from profiles order by profile_id`)
    assert.deepEqual(
      rows.map(row => later.open(row.sealed, row).iccid),
      iccids,
    )
    const [first] = rows
    assert.ok(first)
    assert.deepEqual(later.hashIccid(iccids[0] ?? ''), first.iccidHash)
    assert.throws(() => sealing.open(first.sealed, first), SealingError)
    await assert.rejects(loadIndexKey(scratch.database, masterKeys), SealingError)

    assert.deepEqual(await rotateKeys(given), { resealed: 0 })
    // Restores the key that the other tests use.
    const back = [...masterKeys, ...keys]
    await rotateKeys({
      database: scratch.database,
      sealing: createSealing(back, await loadIndexKey(scratch.database, back)),
      masterKeys: back,
    })
  })

  test('broken off, it goes on where it ended', async () => {
    await load([header, ...lines])
    const keys = [randomBytes(32), ...masterKeys]
    const rotated = createSealing(keys, await loadIndexKey(scratch.database, keys))
    const [row] = await query<SealedProfile>(`select ${sealedProfile} from profiles limit 1`)
    assert.ok(row)
    const after = rotated.seal(rotated.open(row.sealed, row), row)
    assert.equal(await replaceSealed(scratch.database, [{ profileId: row.profileId, before: row.sealed, after }]), 1)
    // A profile that somebody else has sealed again meanwhile stays unchanged.
    assert.equal(
      await replaceSealed(scratch.database, [{ profileId: row.profileId, before: row.sealed, after: row.sealed }]),
      0,
    )
    const given = { database: scratch.database, sealing: rotated, masterKeys: [...masterKeys, keys[0] ?? Buffer.of()] }
    assert.deepEqual(await rotateKeys(given), { resealed: 59 })
  })
})
