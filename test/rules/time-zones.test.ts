/**
 * The formatter of a time zone is made only once, because it takes memory that the garbage collector does not see
 * (src/text/time-zones.ts).
 */
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
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
