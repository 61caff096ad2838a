/** Which transaction ids are card numbers, and which files are refused for them (contract/security.md, "Card numbers"). */
import assert from 'node:assert/strict'
import { after, before, suite, test } from 'node:test'
import { isCardNumber, isFileOfCards } from '../../../src/reconciliation/card-numbers.ts'
import { assertRefused, campaignDirectory } from '../../support/campaigns.ts'
import { startPlatform, type TestPlatform } from '../../support/platform.ts'
import { endedCampaign, line, openSides, reportOf, type Sides, uploadBank } from '../../support/reconciliation.ts'

const withCheckDigit = (digits: string): string =>
  Array.from({ length: 10 }, (_, digit) => `${digits}${digit}`).find(luhn) ?? assert.fail()

function luhn(digits: string): boolean {
  const sum = [...digits].reverse().reduce((sum, digit, place) => {
    const value = Number(digit) * (place % 2 === 0 ? 1 : 2)
    return sum + Math.floor(value / 10) + (value % 10)
  }, 0)
  return sum % 10 === 0
}

/** A number with this length and beginning, and a valid check digit. */
const card = (first: string, length: number): string => withCheckDigit(first.padEnd(length - 1, '1'))

suite('a card number', () => {
  const fitting: [string, string, number[]][] = [
    ['Visa', '4', [13, 16, 19]],
    ['Mastercard 51', '51', [16]],
    ['Mastercard 55', '55', [16]],
    ['Mastercard 2221', '2221', [16]],
    ['Mastercard 2720', '2720', [16]],
    ['American Express 34', '34', [15]],
    ['American Express 37', '37', [15]],
    ['Maestro 50', '50', [16, 17, 18, 19]],
    ['Maestro 56', '56', [16, 17, 18, 19]],
    ['Maestro 69', '69', [16, 17, 18, 19]],
    ['PROSTIR', '9804', [16, 17, 18, 19]],
  ]
  for (const [name, first, lengths] of fitting)
    test(name, () => {
      for (let length = 12; length <= 20; length++)
        assert.equal(isCardNumber(card(first, length)), lengths.includes(length), `${length} digits`)
    })

  const others: [string, string][] = [
    ['2220', card('2220', 16)],
    ['2721', card('2721', 16)],
    ['36', card('36', 15)],
    ['9805', card('9805', 16)],
    ['a wrong check digit', '4111111111111112'],
    ['with a letter', 'T4111111111111111'],
    ['an own id of 16 digits', '1000000000000008'],
  ]
  for (const [name, text] of others) test(`not ${name}`, () => assert.equal(isCardNumber(text), false))

  test('known numbers, also in groups, and with spaces and invisible characters', () => {
    const spaced = [
      ' 4111111111111111',
      '4111111111111111\t',
      '\u200b4111\u00a01111\u20091111\u2060 1111\u200d',
      '3782 - 822463 - 10005',
    ]
    for (const text of ['4111111111111111', '5555 5555 5555 4444', '3782-822463-10005', '2223003122003222', ...spaced])
      assert.equal(isCardNumber(text), true, text)
  })
})

test('a file of cards: from half of its lines on', () => {
  const cases: [number, number, boolean][] = [
    [0, 0, false],
    [1, 1, true],
    [1, 2, true],
    [1, 3, false],
    [499_999, 1_000_000, false],
    [500_000, 1_000_000, true],
  ]
  for (const [cards, lines, isRefused] of cases)
    assert.equal(isFileOfCards(cards, lines), isRefused, `${cards}/${lines}`)
})

suite('a report', () => {
  let platform: TestPlatform
  let sides: Sides
  before(async () => {
    platform = await startPlatform({}, { directory: campaignDirectory })
    sides = await openSides(platform)
  })
  after(() => platform.close())

  test('with card numbers in half of its lines is refused, and the answer names none; with fewer it is accepted', async () => {
    const campaign = await endedCampaign(sides, [sides.alpha])
    const numbers = ['4111111111111111', '5555555555554444']
    const lines = [...numbers, 'a', 'b'].map(id => line(campaign, id))
    const wrong = line(campaign, '4012888888881881', { amount: 'x' })
    for (const report of [reportOf(...lines), reportOf(...lines.slice(0, 3), wrong)]) {
      const refused = await uploadBank(sides.alpha, campaign.id, report)
      assertRefused(refused, 400, /^transactionId must be an id of the transaction, not a card number/)
      assert.doesNotMatch(refused.text, /\d{13}/)
    }
    assert.equal((await uploadBank(sides.alpha, campaign.id, reportOf(...lines, line(campaign, 'c')))).status, 201)
  })

  test('is judged by lines with errors, too', async () => {
    const campaign = await endedCampaign(sides, [sides.alpha])
    for (const [before, after] of [
      ['', '\t'],
      [' ', ''],
      ['\u200b', '\u2060'],
      ['', '\u0000'],
    ]) {
      const lines = ['4111111111111111', '5555555555554444'].map(id => line(campaign, `${before}${id}${after}`))
      const refused = await uploadBank(sides.alpha, campaign.id, reportOf(...lines))
      assertRefused(refused, 400, /^transactionId must be an id of the transaction, not a card number/)
      assert.doesNotMatch(refused.text, /\d{13}/)
    }
  })

  test('with other errors is refused without a word that may be a card number', async () => {
    const campaign = await endedCampaign(sides, [sides.alpha])
    const numbers = ['4111111111111111', '5555 5555\t5555 4444', `x4111111111111111${'x'.repeat(120)}`]
    const lines = numbers.map(id => line(campaign, id))
    const others = ['a', 'b', 'c', '1234567890\t'].map(id => line(campaign, id))
    const swapped = line(campaign, 'd', { amount: '4012888888881881' })
    const withHeader = await uploadBank(sides.alpha, campaign.id, reportOf(...others, ...lines, swapped))
    assert.equal(withHeader.status, 400)
    assert.deepEqual(
      withHeader.body.problems.map(({ line, value }: { line: number; value: string | null }) => [line, value]),
      [
        [5, '1234567890?'],
        [7, null],
        [8, null],
        [9, null],
      ],
    )
    const withoutHeader = await uploadBank(sides.alpha, campaign.id, lines.join('\n'))
    assert.equal(withoutHeader.status, 400)
    assert.equal(withoutHeader.body.problems[0].value, null)
    for (const { text } of [withHeader, withoutHeader]) assert.doesNotMatch(text, /\d{4}[\s?]?\d{4}[\s?]?\d{4}/)
  })
})
