/** An activation code installs one profile, so no two profiles in stock share a code (contract/operations.md, "The stock file"). */
import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { Readable } from 'node:stream'
import { after, before, beforeEach, describe, test } from 'node:test'
import { createClock } from '../../../src/clock.ts'
import { migrate, readMigrations } from '../../../src/db/migrate.ts'
import { hashActivationCodes } from '../../../src/esim/stock/activation-hashes.ts'
import { luhnDigit } from '../../../src/esim/stock/file.ts'
import { importProfiles } from '../../../src/esim/stock/operations.ts'
import { createSealing, loadIndexKey, type Sealing } from '../../../src/esim/stock/sealing.ts'
import { withdrawProfiles } from '../../../src/esim/stock/withdrawal.ts'
import { applyDirectory } from '../../../src/partners/operations.ts'
import { createSealer } from '../../../src/sealing.ts'
import { audit } from '../../../src/upkeep/audit/audit.ts'
import { webhookPurpose } from '../../../src/webhooks/stored-secrets.ts'
import { createTestDatabase, type TestDatabase } from '../../support/database.ts'
import { until } from '../../support/esim.ts'
import { startPlatform, type TestPlatform } from '../../support/platform.ts'

let platform: TestPlatform
before(async () => {
  platform = await startPlatform()
})
after(() => platform.close())
beforeEach(() => platform.platform.database.execute('truncate profiles, tariff_stock cascade'))

const header = 'iccid,msisdn,pin1,activationCode'
const iccidOf = (n: number): string => {
  const digits = `899990042${String(n).padStart(9, '0')}`
  return digits + luhnDigit(digits)
}
const line = (n: number, activationCode: string) =>
  `${iccidOf(n)},+99900420${String(n).padStart(4, '0')},1234,${activationCode}`
const code = (matchingId: string) => `LPA:1$smdp.example.com$${matchingId}`

type Options = { tariff?: string; skipInvalid?: boolean; dryRun?: boolean }

async function load(lines: string[], { tariff = 'eu-10gb', skipInvalid = false, dryRun = false }: Options = {}) {
  const query = `operator=kyivstar&tariff=${tariff}&skipInvalid=${skipInvalid}&dryRun=${dryRun}`
  const { status, text } = await platform.call('POST', `/admin/profiles?${query}`, {
    token: platform.config.operatorKey,
    raw: [header, ...lines].join('\n'),
    headers: { 'content-type': 'text/csv' },
  })
  if (status !== 200) return { status, message: JSON.parse(text).message }
  const answers = text.trimEnd().split('\n')
  const parsed = answers.map(answer => JSON.parse(answer))
  return { status, rejects: parsed.flatMap(({ reject }) => reject ?? []), ...parsed.at(-1).result }
}

/** @param duplicates the lines of duplicates; true: the profile of the ICCID has another activation code */
const done = (imported: number, duplicates: Record<number, boolean> = {}) => {
  const lines = Object.entries(duplicates).map(([line, other]) => ({
    lineNumber: Number(line),
    otherActivationCode: other,
  }))
  const named = lines.length > 0 && { duplicateLines: lines }
  return { status: 200, imported, duplicates: lines.length, ...named, rejected: 0, rejects: [] }
}
const taken = (lineNumber: number) => ({
  lineNumber,
  column: 'activationCode',
  rule: 'activation-code-taken',
  reason: 'is already that of another profile',
})
const skipped = (imported: number, lineNumbers: number[]) => ({
  status: 200,
  imported,
  duplicates: 0,
  rejected: lineNumbers.length,
  rejects: lineNumbers.map(taken),
})
const stored = async () => {
  const [row] = await platform.platform.database.query<{ count: number }>('select count(*) from profiles')
  return row?.count
}

test('a code twice in one file with two ICCIDs: nothing is imported, and the second line is named', async () => {
  assert.deepEqual(await load([line(1, code('A')), line(2, code('B')), line(3, code('A'))]), {
    status: 400,
    message: [
      'line 4, column activationCode: is already that of another profile',
      '1 error in all: nothing was imported',
    ],
  })
  assert.equal(await stored(), 0)
})

test('with skipInvalid the first line of the code goes in, and the others come back in the order of the file', async () => {
  const lines = [line(1, code('A')), line(2, code('A')), 'x', line(3, code('B')), line(4, code('A')), line(5, 'y')]
  const { rejects, ...counts } = await load(lines, { skipInvalid: true })
  assert.deepEqual(counts, { status: 200, imported: 2, duplicates: 0, rejected: 4 })
  assert.deepEqual(
    rejects.map(({ lineNumber, rule }: { lineNumber: number; rule: string }) => [lineNumber, rule]),
    [
      [3, 'activation-code-taken'],
      [4, 'column-count'],
      [6, 'activation-code-taken'],
      [7, 'activation-form'],
    ],
  )
  assert.deepEqual(await load(lines), {
    status: 400,
    message: [
      'line 3, column activationCode: is already that of another profile',
      'line 4: must have four columns, as the header has',
      'line 6, column activationCode: is already that of another profile',
      'line 7, column activationCode: must be LPA:1$SM-DP+ address$matching id',
      '4 errors in all: nothing was imported',
    ],
  })
})

test('a code that is in stock is refused in a later file, of another tariff too; a trial says so', async () => {
  assert.deepEqual(await load([line(1, code('A')), line(2, code('B'))]), done(2))
  const file = [line(3, code('C')), line(4, code('B'))]
  for (const tariff of ['eu-10gb', 'ua-5gb'])
    assert.deepEqual(await load(file, { tariff, dryRun: true, skipInvalid: true }), skipped(1, [3]))
  assert.equal(await stored(), 2)
  assert.deepEqual(await load(file, { tariff: 'ua-5gb', skipInvalid: true }), skipped(1, [3]))
  assert.equal(await stored(), 3)
  assert.equal((await load([line(5, code('A'))], { tariff: 'ua-5gb' })).status, 400)
})

test('the address counts without its case; the object identifier and the flag do not count; the matching id does', async () => {
  await load([line(1, 'LPA:1$smdp.example.com$aB-1')])
  const same = ['LPA:1$SMDP.Example.COM$aB-1', 'LPA:1$smdp.example.com$aB-1$1.3.6$1', 'LPA:1$smdp.example.com$aB-1$$1']
  assert.deepEqual(
    await load(
      same.map((activationCode, n) => line(10 + n, activationCode)),
      { skipInvalid: true },
    ),
    skipped(0, [2, 3, 4]),
  )
  const others = ['LPA:1$smdp.example.com$AB-1', 'LPA:1$smdp2.example.com$aB-1', 'LPA:1$smdp.example.com$aB-10']
  assert.deepEqual(await load(others.map((activationCode, n) => line(20 + n, activationCode))), done(3))
})

test('codes without a matching id name no profile, so any number of profiles may have the same', async () => {
  assert.deepEqual(await load([line(1, code('')), line(2, code(''))]), done(2))
  assert.deepEqual(await load([line(3, code(''))], { tariff: 'ua-5gb' }), done(1))
})

test('a profile that is in stock stays a duplicate, whatever its code; so does one that comes twice in a file', async () => {
  await load([line(1, code('A')), line(2, code('B'))])
  const again = [line(1, code('A')), line(2, code('A')), line(1, code('new'))]
  assert.deepEqual(await load(again), done(0, { 2: false, 3: true, 4: true }))
  assert.deepEqual(await load(again, { tariff: 'ua-5gb' }), done(0, { 2: false, 3: true, 4: true }))
  assert.deepEqual(
    await load([line(3, code('C')), line(3, code('C')), line(3, code('D'))]),
    done(1, { 3: false, 4: true }),
  )
  // A line whose profile is a duplicate does not use up its code: another profile may have that code.
  assert.deepEqual(await load([line(4, code('D')), line(5, code('new'))]), done(2))
})

test('a refused line takes nothing: its ICCID may come again with a code of its own', async () => {
  assert.deepEqual(
    await load([line(1, code('A')), line(2, code('A')), line(2, code('B')), line(3, code('B'))], { skipInvalid: true }),
    skipped(2, [3, 5]),
  )
})

test('the first 20 faults are named, and all are counted', async () => {
  const lines = Array.from({ length: 60 }, (_, n) => line(n, code(`C${n % 10}`)))
  const { message } = await load(lines)
  assert.equal(message.length, 21)
  assert.match(message[0], /^line 12, column activationCode: /)
  assert.match(message[19], /^line 31, column activationCode: /)
  assert.equal(message[20], '... and 30 more errors; 50 errors in all: nothing was imported')
})

test('two imports at once with the same codes and other ICCIDs: each code goes into stock once', async () => {
  const file = (first: number) => Array.from({ length: 300 }, (_, n) => line(first + n, code(`R${n}`)))
  const results = await Promise.all([
    load(file(1_000), { skipInvalid: true }),
    load(file(2_000).toReversed(), { skipInvalid: true, tariff: 'ua-5gb' }),
    load(file(3_000), { skipInvalid: true }),
  ])
  assert.deepEqual(results.map(({ imported, rejected }) => [imported, rejected]).sort(), [
    [0, 300],
    [0, 300],
    [300, 0],
  ])
  assert.equal(await stored(), 300)
})

test('neither the code nor its parts are in the database', async () => {
  await load([line(1, 'LPA:1$planted.example.com$PLANTED-ID')])
  const rows = await platform.platform.database.query<{ row: string; hash: string }>(
    `select p::text as row, encode(activation_hash, 'hex') as hash from profiles p`,
  )
  assert.equal(rows[0]?.hash.length, 64)
  for (const text of ['planted', 'PLANTED'])
    assert.ok(!rows[0]?.row.includes(text) && !rows[0]?.row.includes(Buffer.from(text).toString('hex')))
})

describe('profiles that were loaded before codes were compared', () => {
  let scratch: TestDatabase
  let sealing: Sealing
  const clock = createClock()
  const warnings: object[] = []
  const hash = (atOnce?: number) =>
    hashActivationCodes(
      { database: scratch.database, sealing, warn: (fields, text) => warnings.push({ ...fields, text }) },
      atOnce ? { atOnce } : {},
    )
  const hashed = async () => {
    const rows = await scratch.database.query<{ id: number }>(
      'select profile_id as id from profiles where activation_hash is not null order by profile_id',
    )
    return rows.map(({ id }) => id)
  }

  /** Loads profiles as a process of the previous version does. The first one gets the id `first`. */
  async function loadAsBefore(first: number, matchingIds: string[]): Promise<void> {
    const rows = matchingIds.map((matchingId, n) => {
      const [profileId, iccid] = [first + n, iccidOf(first + n)]
      const iccidHash = sealing.hashIccid(iccid)
      const secrets = { iccid, pin1: '1234', activationCode: code(matchingId) }
      return { profileId, iccidHash, sealed: sealing.seal(secrets, { profileId, tariffId: 1, iccidHash }) }
    })
    await scratch.database.execute(
      `insert into profiles (profile_id, tariff_id, iccid_hash, msisdn, sealed, imported_at) overriding system value
       select profile_id, 1, iccid_hash, '+1', sealed, '2026-11-01' from unnest($1::bigint[], $2::bytea[], $3::bytea[])
         as g (profile_id, iccid_hash, sealed)`,
      [rows.map(row => row.profileId), rows.map(row => row.iccidHash), rows.map(row => row.sealed)],
    )
    await scratch.database.execute(`select setval(pg_get_serial_sequence('profiles', 'profile_id'), 1000)`)
  }

  before(async () => {
    scratch = await createTestDatabase({ migrated: false })
    const { database } = scratch
    await migrate(
      database,
      readMigrations().filter(({ version }) => version < 60),
    )
    const masterKeys = [randomBytes(32)]
    sealing = createSealing(masterKeys, await loadIndexKey(database, masterKeys))
    const directory = `
banks: [{ code: alpha, name: Alpha, esim: { operators: all } }]
esim: { operators: [{ code: star, nameUk: Z, country: UA, tariffs: [{ code: a, name: T, price: 1, currency: UAH, validityDays: 1 }] }] }`
    await applyDirectory({ database, clock }, { directory, files: new Map(), dryRun: false })
  })
  after(() => scratch.close())

  const load = async (...lines: string[]) => {
    const source = Readable.from([header, ...lines].map(text => `${text}\n`))
    const { rejects, ...counts } = await importProfiles(
      { database: scratch.database, clock, sealing },
      { tariffId: 1, source, skipInvalid: true },
    )
    return { ...counts, rejects: [...rejects] }
  }
  const repeatedCodes = async () => {
    const webhooks = { sealer: createSealer([randomBytes(32)], webhookPurpose) }
    const retention = { reportLinesDays: null, segmentsDays: null, msisdnDays: null }
    const { checks } = await audit(
      { database: scratch.database, sealing, webhooks, masterKeys: [randomBytes(32)], retention },
      clock.now(),
    )
    const failed = checks.filter(({ ok }) => !ok)
    assert.ok(failed.every(({ code }) => code === 'activation-codes'))
    return failed[0]?.detail ?? null
  }

  test('the worker hashes them in pieces, and names those that repeat the code of another profile', async () => {
    await loadAsBefore(1, ['A', '', 'B', 'A', 'C', 'c', '', 'A'])
    await migrate(scratch.database)
    assert.deepEqual(await hashed(), [])
    // After the migration, a process of the previous version may still load a file, and so may one of this version.
    await loadAsBefore(9, ['D', 'B'])
    assert.equal((await load(line(50, code('C')), line(51, code('E')), line(52, code('')))).imported, 3)
    assert.equal(await repeatedCodes(), null, 'nothing is known of them yet')

    let pieces = 0
    while ((await hash(3)) === 'soon') pieces++
    assert.equal(pieces, 5)
    assert.equal(await hash(), false)
    const own = (await hashed()).filter(id => id < 50)
    assert.deepEqual(own, [1, 3, 6, 9])
    assert.deepEqual(
      warnings.map(warning => Object.values(warning).slice(0, 2)),
      [
        [2, [4, 5]],
        [1, [8]],
        [1, [10]],
      ],
    )
    assert.ok(!JSON.stringify(warnings).includes('smdp'))
    const { rejects } = await load(line(60, code('A')), line(61, code('D')), line(62, code('F')))
    assert.deepEqual(rejects, [taken(2), taken(3)])
  })

  test('the audit names those that could still be sold', async () => {
    const detail = await repeatedCodes()
    assert.match(
      detail ?? '',
      /profile 4 of star\/a, loaded on 2026-11-01, has the activation code of profile 1 of star\/a, loaded on 2026-11-01/,
    )
    assert.match(detail ?? '', /profile 5 of .* has the activation code of profile 1001 /)
    await withdrawProfiles({ database: scratch.database, clock, sealing }, { iccids: [4, 50, 8, 10].map(iccidOf) })
    assert.equal(await repeatedCodes(), null)
  })

  test('a profile that cannot be decrypted is told and does not stop the others', async () => {
    await loadAsBefore(20, ['G', 'H'])
    await scratch.database.execute(`update profiles set sealed = '' where profile_id = 20`)
    warnings.length = 0
    while ((await hash()) === 'soon');
    assert.deepEqual(
      warnings.map(warning => Object.values(warning).slice(0, 2)),
      [[1, [20]]],
    )
    assert.ok((await hashed()).includes(21))
  })

  test('while an import holds the lock, the worker waits', async () => {
    await loadAsBefore(30, ['I'])
    await scratch.database.transaction(async transaction => {
      await transaction.execute('select pg_advisory_xact_lock(7365014)')
      assert.equal(await hash(), null)
    })
    assert.equal(await hash(), 'soon')
    assert.ok((await hashed()).includes(30))
  })
})

test('the worker of a platform hashes what the previous version loads', async () => {
  const { database } = platform.platform
  await load([line(1, code('A')), line(2, code('B'))])
  await database.execute('update profiles set activation_hash = null')
  await database.execute(
    'insert into unhashed_profiles (first_profile_id, last_profile_id) select min(profile_id), max(profile_id) from profiles',
  )
  await until(
    'the hashes are there',
    async () => {
      const rows = await database.query('select from profiles where activation_hash is not null')
      return rows.length === 2
    },
    20_000,
  )
  assert.equal((await load([line(3, code('B'))])).status, 400)
})
