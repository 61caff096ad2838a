/**
 * The formatter of a time zone is made only once, because it takes memory that the garbage collector does not see
 * (src/text/time-zones.ts).
 */
import assert from 'node:assert/strict'
import { readdirSync } from 'node:fs'
import { join, relative } from 'node:path'
import { after, before, test } from 'node:test'
import { packagedRuntime } from '../../src/db/embedded/runtime.ts'
import { dayOf, startOfDay } from '../../src/text/days.ts'
import { brokenRule, timeZone } from '../../src/text/text-rules.ts'
import { usualZoneName } from '../../src/text/time-zones.ts'

const formats = Intl.DateTimeFormat
let made = 0

before(() => {
  Intl.DateTimeFormat = new Proxy(formats, {
    construct(target, args) {
      made++
      return Reflect.construct(target, args)
    },
  })
})
after(() => {
  Intl.DateTimeFormat = formats
})

test('a zone is asked a thousand times, in any case of letters, and one format is made', () => {
  const now = new Date('2026-03-29T00:30:00Z')
  for (let asked = 0; asked < 1_000; asked++) {
    const zone = asked % 2 === 0 ? 'Pacific/Chatham' : 'PACIFIC/chatham'
    assert.equal(dayOf(now, zone), '2026-03-29')
    assert.equal(startOfDay('2026-03-29', zone).toISOString(), '2026-03-28T10:15:00.000Z')
    assert.equal(brokenRule(zone, timeZone), undefined)
  }
  assert.equal(made, 1)
})

test('unknown zones are refused', () => {
  for (const zone of ['Europe/Nowhere', '', ' Europe/Kyiv', '+03:00', 'x'.repeat(65)])
    assert.equal(brokenRule(zone, timeZone)?.rule, 'time-zone', zone)
})

/** The names of IANA's database, with those of its file `backward`, as PostgreSQL has them. */
const ianaNames = (() => {
  const folder = join(packagedRuntime(process.platform, process.arch), 'share', 'postgresql', 'timezone')
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter(entry => entry.isFile())
    .map(entry => relative(folder, join(entry.parentPath, entry.name)))
    .filter(name => name !== 'Factory')
})()

test('every name of the IANA database is accepted, in any case, and keeps its letters', () => {
  assert.ok(ianaNames.length > 590, `${ianaNames.length} names`)
  for (const name of ['Europe/Kiev', 'EST', 'EST5EDT', 'GMT', 'UTC', 'Etc/GMT+5', 'US/Pacific', 'Cuba', 'GB', 'W-SU'])
    assert.ok(ianaNames.includes(name), name)
  const differing = ianaNames.filter(name =>
    [name, name.toLowerCase()].some(given => brokenRule(given, timeZone) || usualZoneName(given) !== name),
  )
  assert.deepEqual(differing, [])
})

test('names that only Intl has are refused, and a bank that has one still has days', () => {
  const short = new Set(ianaNames.filter(name => /^[A-Z]{1,4}$/.test(name)))
  const letters = [...'ABCDEFGHIJKLMNOPQRSTUVWXYZ']
  const words = letters.flatMap(a => letters.flatMap(b => [a + b, ...letters.map(c => a + b + c)]))
  assert.deepEqual(new Set(words.filter(word => !brokenRule(word, timeZone))), short)
  const systemV = [
    'AST4',
    'AST4ADT',
    'CST6',
    'CST6CDT',
    'EST5',
    'EST5EDT',
    'HST10',
    'MST7',
    'MST7MDT',
    'PST8',
    'PST8PDT',
  ]
  for (const name of [
    ...['ACT', 'AST', 'BST', 'CNT', 'CST', 'IST', 'JST', 'PST', 'bst'],
    ...[...systemV, 'YST9', 'YST9YDT', 'ast4adt'].map(zone => `SystemV/${zone}`),
    ...['US/Pacific-New', 'Canada/East-Saskatchewan'],
  ]) {
    assert.equal(brokenRule(name, timeZone)?.rule, 'time-zone', name)
    assert.match(dayOf(new Date(), name), /^\d{4}-/)
  }
})

test('a name gets its usual capital and small letters, and stays this name', () => {
  const regular = ['Europe/Kiev', 'Europe/Kyiv', 'Asia/Calcutta', 'Asia/Kolkata', 'America/North_Dakota/New_Salem']
  const zones = [
    ...regular,
    ...['UTC', 'Etc/UTC', 'Etc/UCT', 'UCT', 'GMT', 'GMT0', 'GMT+0', 'Etc/GMT-14', 'Zulu', 'Universal', 'Cuba', 'Eire'],
    ...['EST', 'EST5EDT', 'CET', 'PRC', 'W-SU', 'GB', 'GB-Eire', 'NZ-CHAT', 'US/Pacific', 'US/East-Indiana'],
    ...['Africa/Dar_es_Salaam', 'America/Port-au-Prince', 'America/Port_of_Spain', 'Europe/Isle_of_Man'],
    ...['Antarctica/McMurdo', 'Antarctica/DumontDUrville', 'Australia/ACT', 'Australia/LHI', 'Australia/NSW'],
    ...['America/Argentina/ComodRivadavia', 'America/Knox_IN', 'Brazil/DeNoronha', 'Chile/EasterIsland'],
    ...['Mexico/BajaNorte', 'Mexico/BajaSur', 'Asia/Ust-Nera', 'Africa/Porto-Novo'],
  ]
  for (const zone of zones)
    for (const given of [zone, zone.toLowerCase(), zone.toUpperCase()]) assert.equal(usualZoneName(given), zone)
})
