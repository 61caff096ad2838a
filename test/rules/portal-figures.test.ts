/** How the portal writes and reads figures: money, percentages, sizes, periods, and days in a time zone. */
import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { lessOf, shareOf } from '../../portal/src/campaigns/detail/shares.ts'
import { createFormat, restOfPercent } from '../../portal/src/i18n/format.ts'
import {
  addDays,
  daysOfPeriod,
  fromZoned,
  isSkipped,
  isTimeZone,
  periodOfDays,
  toZoned,
} from '../../portal/src/i18n/time-zone.ts'
import { readNumber } from '../../portal/src/i18n/typed-number.ts'
import { profileSearchOf } from '../../portal/src/ui/profile-search.ts'

suite('figures', () => {
  // Replaces non-breaking spaces by plain ones.
  const plain = (written: string) => written.replace(/[\u00a0\u202f\u2009]/g, ' ')
  const uk = createFormat('uk', 'Europe/Kyiv')
  const en = createFormat('en', 'Europe/Kyiv')

  test('money, percentages, sizes', () => {
    assert.equal(plain(uk.money(1250000.5, 'UAH')), '1 250 000,50 ₴')
    assert.equal(en.money(0.1, 'EUR'), '€0.10')
    assert.equal(plain(uk.money(7)), '7,00')
    assert.equal(plain(uk.percent(5.5)), '5,5%')
    assert.deepEqual([100, 99.999, 12.3456, 0.004].map(en.percent), ['100%', '99.999%', '12.3456%', '0.004%'])
    assert.deepEqual([33.335, 66.6667, 0.01].map(restOfPercent), [66.665, 33.3333, 99.99])
    assert.deepEqual([0, 1, 198, 1000, 1_250_000].map(en.bytes).map(plain), [
      '0 bytes',
      '1 byte',
      '198 bytes',
      '1 kB',
      '1.3 MB',
    ])
    assert.deepEqual([1, 3, 198].map(uk.bytes).map(plain), ['1 байт', '3 байти', '198 байтів'])
  })

  test('the share of an amount: exact, half up, as the platform rounds', () => {
    const cases: [number, number, number][] = [
      [2.01, 50, 1.01],
      [0.01, 50, 0.01],
      [0.01, 49.999999, 0],
      [20.01, 50, 10.01],
      [1.15, 30, 0.35],
      [9_999_999_999.99, 33.333333, 3_333_333_300],
      [9_999_999_999.99, 1e-7, 10],
      [100, 0, 0],
      [100, 12.3456789, 12.35],
    ]
    for (const [amount, percent, part] of cases)
      assert.equal(shareOf(amount, percent), part, `${percent} % of ${amount}`)
    for (const [amount, part] of [
      [2.01, 1.01],
      [9_999_999_999.99, 0.03],
      [0.3, 0.1],
    ] as const)
      assert.equal(lessOf(amount, part), Number((amount - part).toFixed(2)))
  })

  test('a typed number with groups begins with no 0: `0,500` may be a half', () => {
    for (const typed of ['0,500', '0,001', '0 500', '00 500', '01,234', '0\u00a0500', '0,500.25', '0 500,5'])
      for (const language of ['en', 'uk'] as const) assert.equal(readNumber(typed, language), null, typed)
    assert.deepEqual(
      [readNumber('0,5', 'en'), readNumber('0,50', 'uk'), readNumber('10,500', 'en')],
      [0.5, 0.5, 10_500],
    )
    assert.equal(readNumber('0,500', 'uk', 4), 0.5)
  })

  test('mobile data as people say it', () => {
    const said = [100, 500, 1000, 1024, 1536, 3072, 10_240, 1500].map(en.dataVolume).map(plain)
    assert.deepEqual(said, ['100 MB', '500 MB', '1 GB', '1 GB', '1.5 GB', '3 GB', '10 GB', '1,500 MB'])
    assert.equal(plain(uk.dataVolume(15_360)), '15 ГБ')
  })

  test('a phone number or an ICCID as people type it', () => {
    assert.deepEqual(profileSearchOf(' +380 (67) 123-45-67 '), { msisdn: '+380671234567' })
    assert.deepEqual(profileSearchOf('8938003 9912345678 90'), { iccid: '8938003991234567890' })
    for (const copied of ['\u202d+380671234567\u202c', '\u200e+380\u00a067\u2011123\u201345\u201367\ufeff'])
      assert.deepEqual(profileSearchOf(copied), { msisdn: '+380671234567' })
    for (const dictated of ['00 999 000 100 000 001', '+999/000/100/000/001', '999.000.100.000.001'])
      assert.match(JSON.stringify(profileSearchOf(dictated)), /^\{"msisdn":"\+?999000100000001"\}$/)
    for (const padded of ['8938003991234567890F', '8938003991234567890 f', '8938/0039/9123/4567/890'])
      assert.deepEqual(profileSearchOf(padded), { iccid: '8938003991234567890' })
    const wrongEnds = [
      '000671234567',
      '+00671234567',
      '+8938003991234567890F',
      '89380039912345678901F',
      '380671234567F',
    ]
    for (const wrong of ['', '0671234567', 'abc', '+', '893800399123456789012', ...wrongEnds])
      assert.equal(profileSearchOf(wrong), null)
  })

  test('a period of whole days ends with its last day; another shows its times', () => {
    assert.equal(plain(en.period('2026-10-31T22:00:00Z', '2026-11-30T22:00:00Z')), '1 – 30 Nov 2026')
    assert.equal(plain(en.period('2026-11-09T22:00:00Z', '2026-11-10T22:00:00Z')), '10 Nov 2026')
    assert.match(
      plain(en.period('2026-11-01T00:00:00Z', '2026-12-01T00:00:00Z')),
      /^1 Nov 2026, 02:00 – 1 Dec 2026, 02:00$/,
    )
  })

  test('how long until, how long ago', () => {
    const now = new Date('2026-11-10T12:00:00Z')
    const at = ['2026-11-13T13:00:00Z', '2026-11-10T15:59:00Z', '2026-11-10T11:58:00Z', '2026-11-10T12:00:30Z']
    assert.deepEqual(
      at.map(each => en.relative(each, now)),
      ['in 3 days', 'in 3 hours', '2 minutes ago', 'this minute'],
    )
  })

  test('days until and since are counted by the calendar of the time zone', () => {
    // Each row: now, the instant, what is said; both in Kyiv's time, where clocks are set back on 25 October 2026.
    const cases = [
      ['2026-11-30 14:00:00', '2026-12-13 00:00:00', 'in 13 days'],
      ['2026-11-30 00:30:00', '2026-12-13 23:59:00', 'in 13 days'],
      ['2026-11-30 23:30:00', '2026-12-01 23:30:00', 'tomorrow'],
      ['2026-11-30 23:30:00', '2026-12-02 00:00:00', 'in 2 days'],
      ['2026-11-30 23:30:00', '2026-12-01 23:29:00', 'in 23 hours'],
      ['2026-11-30 14:00:00', '2026-11-28 23:59:00', '2 days ago'],
      ['2026-10-25 00:00:00', '2026-10-25 23:30:00', 'in 24 hours'],
    ] as const
    for (const [now, at, said] of cases)
      assert.equal(en.relative(fromZoned(at, 'Europe/Kyiv'), fromZoned(now, 'Europe/Kyiv')), said, `${now} ${at}`)
  })
})

suite('days in a time zone', () => {
  test('there and back, also where clocks are changed', () => {
    const cases: [string, string, string][] = [
      ['2026-11-10 00:00:00', 'Europe/Kyiv', '2026-11-09T22:00:00.000Z'],
      ['2026-07-10 00:00:00', 'Europe/Kyiv', '2026-07-09T21:00:00.000Z'],
      ['2026-03-29 00:00:00', 'Europe/Kyiv', '2026-03-28T22:00:00.000Z'],
      ['2026-03-30 00:00:00', 'Europe/Kyiv', '2026-03-29T21:00:00.000Z'],
      ['2026-10-25 00:00:00', 'Europe/Kyiv', '2026-10-24T21:00:00.000Z'],
      ['2026-10-26 00:00:00', 'Europe/Kyiv', '2026-10-25T22:00:00.000Z'],
      ['2026-11-10 13:30:15', 'America/New_York', '2026-11-10T18:30:15.000Z'],
      ['2026-11-10 00:00:00', 'Asia/Kolkata', '2026-11-09T18:30:00.000Z'],
      ['2026-11-10 00:00:00', 'Pacific/Kiritimati', '2026-11-09T10:00:00.000Z'],
      ['2026-11-10 00:00:00', 'UTC', '2026-11-10T00:00:00.000Z'],
    ]
    for (const [local, zone, instant] of cases) {
      assert.equal(fromZoned(local, zone).toISOString(), instant, `${local} ${zone}`)
      assert.equal(toZoned(instant, zone), local)
    }
  })

  test('of a time that exists twice the earlier one is used, and a skipped time moves forward', () => {
    assert.equal(fromZoned('2026-10-25 03:30:00', 'Europe/Kyiv').toISOString(), '2026-10-25T00:30:00.000Z')
    assert.equal(fromZoned('2026-03-29 03:30:00', 'Europe/Kyiv').toISOString(), '2026-03-29T01:30:00.000Z')
    const skipped = ['02:59:59', '03:00:00', '03:30:00', '03:59:59', '04:00:00'].map(clock =>
      isSkipped(`2027-03-28 ${clock}`, 'Europe/Kyiv'),
    )
    assert.deepEqual(skipped, [false, true, true, true, false])
    assert.equal(isSkipped('2026-10-25 03:30:00', 'Europe/Kyiv'), false, 'there is twice')
    assert.equal(isSkipped('2027-03-28 03:30:00', 'UTC'), false)
  })

  test('every hour of a year is found again', () => {
    for (const zone of ['Europe/Kyiv', 'America/St_Johns', 'Australia/Lord_Howe']) {
      let ambiguous = 0
      for (let at = Date.parse('2026-01-01T00:00:00Z'); at < Date.parse('2027-01-01T00:00:00Z'); at += 3_600_000) {
        const found = fromZoned(toZoned(new Date(at), zone), zone).getTime()
        if (found !== at) ambiguous++
        assert.equal(toZoned(new Date(found), zone), toZoned(new Date(at), zone))
      }
      assert.ok(ambiguous <= 1, `${zone}: ${ambiguous} hours are not found again`)
    }
  })

  test('a period of days takes in its last day, and is known as such in its own zone only', () => {
    const period = periodOfDays('2026-10-20', '2026-10-31', 'Europe/Kyiv')
    assert.deepEqual(period, { dateFrom: '2026-10-19T21:00:00.000Z', dateTo: '2026-10-31T22:00:00.000Z' })
    assert.deepEqual(daysOfPeriod(period.dateFrom, period.dateTo, 'Europe/Kyiv'), {
      from: '2026-10-20',
      to: '2026-10-31',
    })
    assert.equal(daysOfPeriod(period.dateFrom, period.dateTo, 'UTC'), null)
    assert.deepEqual([addDays('2026-12-31', 1), addDays('2026-03-01', -1)], ['2027-01-01', '2026-02-28'])
    assert.deepEqual([isTimeZone('Europe/Kyiv'), isTimeZone('Mars'), isTimeZone(null)], [true, false, false])
  })
})
