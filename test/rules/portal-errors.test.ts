/** How the portal shows errors in the language of the page. */
import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { ApiError, apiError } from '../../portal/src/api/errors.ts'
import { problemText } from '../../portal/src/api/file-problems.ts'
import { errorText } from '../../portal/src/ui/error-text.ts'
import { NotLoaded } from '../../portal/src/ui/not-loaded.ts'
import { uiTexts } from '../../portal/src/ui/texts.ts'

suite('an error of the platform, in the language of the page', () => {
  const whole = { line: null, column: null, params: {}, value: null }
  const uk = (error: ApiError) => errorText(error, uiTexts.uk, 'uk')
  const told = ['No report of the bank is awaited: the campaign’s period has not ended yet']

  test('a rule with a name is told in words of our own', () => {
    const problems = [{ ...whole, rule: 'period-not-ended' }]
    const error = new ApiError(400, told, null, { problems, code: 'campaign-state' })
    assert.deepEqual(uk(error).details, ['Період кампанії ще триває. Звітами обмінюються після його завершення.'])
    assert.deepEqual(errorText(error, uiTexts.en, 'en').details, [
      'The campaign’s period hasn’t ended yet. Reports are exchanged after it ends.',
    ])
  })

  test('a campaign that has moved on', () => {
    const { text, details } = uk(new ApiError(400, told, null, { code: 'campaign-state' }))
    assert.equal(text, 'Тим часом кампанія змінилася. Сторінка показує її поточний стан.')
    assert.deepEqual(details, [])
  })

  test('code that is gone after an update is no lost connection', () => {
    const { text, isPassing } = errorText(new NotLoaded(new Error()), uiTexts.en, 'en')
    assert.deepEqual([text, isPassing], ['Perkline was updated. Reload the page.', true])
  })

  test('the code of an answer is in its body, or in a header where the contract fixes the body', () => {
    const headers = new Headers({ 'perkline-error-code': 'campaign-state' })
    assert.equal(apiError(400, { message: 'x' }, headers).code, 'campaign-state')
    assert.equal(apiError(400, { message: 'x', code: 'invalid' }, headers).code, 'invalid')
    assert.equal(apiError(400, { message: 'x' }, new Headers()).code, null)
  })

  test('lines of a file of customers', () => {
    const line = { line: 7, column: 'customerId', value: null }
    assert.equal(
      problemText({ ...line, rule: 'customer-id', params: { max: 128 } }, 'uk'),
      'Рядок 7, customerId: має бути від 1 до 128 символів, без керівних символів і без пробілів на краях',
    )
    assert.equal(
      problemText({ ...line, column: null, rule: 'other-bank', params: { bank: 'alpha' } }, 'en'),
      'Line 7: this customer belongs to another bank',
    )
  })
})
