import assert from 'node:assert/strict'
import { Readable } from 'node:stream'
import { test } from 'node:test'
import { profileLines } from '../../samples/make-profiles.ts'
import { DomainError } from '../../src/errors.ts'
import {
  activationCodeTaken,
  checkStockLine,
  luhnDigit,
  type NumberedStockResult,
  readStockLines,
  type StockResult,
  stockColumns,
  stockErrors,
} from '../../src/esim/stock/file.ts'

const iccid = '8991101200003204514'
const activationCode = 'LPA:1$smdp.example.com$04386-AGYFT-A74Y8-3F815'
const good = [iccid, '+380501234567', '1234', activationCode]
const header = 'iccid,msisdn,pin1,activationCode'
const withDigit = (body: string) => body + luhnDigit(body)

async function read(...chunks: (string | Uint8Array)[]): Promise<NumberedStockResult[]> {
  const results: NumberedStockResult[] = []
  for await (const batch of readStockLines(Readable.from(chunks.map(chunk => Buffer.from(chunk))))) {
    assert.ok(batch.length > 0 && batch.length <= 200)
    results.push(...batch)
  }
  return results
}

/** "column: beginning of the text" of an error; "good" otherwise. */
const verdictOf = (result: StockResult) => ('error' in result ? `${result.error.column} ${result.error.text}` : 'good')

test('the Luhn digit is the one of published numbers', () => {
  for (const number of ['79927398713', '8991101200003204514', '8965880812100011146', '378282246310005'])
    assert.equal(luhnDigit(number.slice(0, -1)), number.at(-1))
})

const cases: [column: number, value: string, verdict: RegExp][] = [
  [0, withDigit('89911012000032045'), /^good$/],
  [0, withDigit('8991101200003204511'), /^good$/],
  [0, withDigit('8991101200003204'), /^iccid must be 18 to 20 digits/],
  [0, withDigit('89911012000032045112'), /^iccid must be 18 to 20 digits/],
  [0, '89911012000032045１０', /^iccid must be 18 to 20 digits/],
  [0, '899110120000320451F', /^iccid must be 18 to 20 digits/],
  [0, ` ${iccid}`, /^iccid must be 18 to 20 digits/],
  [0, '', /^iccid must be 18 to 20 digits/],
  [0, '8991101200003204510', /^iccid must end with the right Luhn digit/],
  [0, '8991101200003024514', /^iccid must end with the right Luhn digit/],
  [1, '380501234567', /^good$/],
  [1, '+123456789012345', /^good$/],
  [1, '+1234567890123456', /^msisdn must be/],
  [1, '0501234567', /^msisdn must be/],
  [1, '+0501234567', /^msisdn must be/],
  [1, '++380501234567', /^msisdn must be/],
  [1, '+380 50 123 45 67', /^msisdn must be/],
  [1, '', /^msisdn must be/],
  [2, '0000', /^good$/],
  [2, '12345678', /^good$/],
  [2, '123', /^pin1 must be/],
  [2, '123456789', /^pin1 must be/],
  [2, '12 4', /^pin1 must be/],
  [3, 'LPA:1$SMDP.EXAMPLE.COM$', /^good$/],
  [3, 'LPA:1$smdp.example.com$abc-1', /^good$/],
  [3, 'LPA:1$smdp.example.com$A$1.3.6.1.4.1.31746', /^good$/],
  [3, 'LPA:1$smdp.example.com$A$$1', /^good$/],
  [3, 'LPA:1$smdp.example.com$A$1.3.6$1$x$1', /^good$/],
  [3, `LPA:1$smdp.example.com$${'A'.repeat(232)}`, /^good$/],
  [3, `LPA:1$smdp.example.com$${'A'.repeat(233)}`, /^activationCode must be at most 255/],
  [3, '1$smdp.example.com$A', /^activationCode must be LPA:1/],
  [3, 'lpa:1$smdp.example.com$A', /^activationCode must be LPA:1/],
  [3, 'LPA:2$smdp.example.com$A', /^activationCode must be LPA:1/],
  [3, 'LPA:1$smdp.example.com', /^activationCode must be LPA:1/],
  [3, '', /^activationCode must be LPA:1/],
  [3, 'LPA:1$$A', /^activationCode must name an SM-DP\+ address/],
  [3, 'LPA:1$smdp$A', /^activationCode must name an SM-DP\+ address/],
  [3, 'LPA:1$https://smdp.example.com$A', /^activationCode must name an SM-DP\+ address/],
  [3, 'LPA:1$192.0.2.1$A', /^activationCode must name an SM-DP\+ address/],
  [3, 'LPA:1$-smdp.example.com$A', /^activationCode must name an SM-DP\+ address/],
  [3, `LPA:1$${'a'.repeat(64)}.example$A`, /^activationCode must name an SM-DP\+ address/],
  [3, 'LPA:1$smdp.example.com$A B', /^activationCode must have a matching id/],
  [3, 'LPA:1$smdp.example.com$Ä', /^activationCode must have a matching id/],
  [3, 'LPA:1$smdp.example.com$A$oid', /^activationCode must have an SM-DP\+ OID/],
  [3, 'LPA:1$smdp.example.com$A$$yes', /^activationCode must have 1, or nothing/],
  [3, 'LPA:1$smdp.example.com$A$$1$\u0007', /^activationCode must consist of printable/],
]

test('each column takes what its rule allows, and every other value is refused by column and rule', () => {
  for (const [column, value, verdict] of cases) {
    const result = checkStockLine(good.with(column, value))
    assert.match(verdictOf(result), verdict, value)
    if ('error' in result) assert.ok(stockErrors.includes(result.error))
  }
})

test('a profile is taken as it stands in the file, its number with a leading +', () => {
  const line = { iccid, msisdn: '+380501234567', pin1: '1234', activationCode }
  assert.deepEqual(checkStockLine(good), { line })
  assert.deepEqual(checkStockLine(good.with(1, '380501234567')), { line })
})

test('a record of another number of columns is refused', () => {
  for (const record of [[], good.slice(0, 3), [...good, '']])
    assert.match(verdictOf(checkStockLine(record)), /^line must have four columns/)
})

test('lines are read with their number in the file, whatever the line ends, quotes and order of the columns', async () => {
  const [, msisdn, pin1] = good
  const expected = [
    [2, 'good'],
    [4, 'good'],
  ]
  const files = [
    `${header}\n${good}\n\n${good}`,
    `\ufeff${header}\r\n${good}\r\n\r\n${good}\r\n`,
    `"pin1","iccid","activationCode","msisdn"\n${pin1},${iccid},"${activationCode}",${msisdn}\n\n${pin1},${iccid},${activationCode},"${msisdn}"\n`,
  ]
  for (const file of files) {
    const whole = await read(file)
    assert.deepEqual(
      whole.map(({ lineNumber, result }) => [lineNumber, verdictOf(result)]),
      expected,
    )
    assert.deepEqual(await read(...Array.from(Buffer.from(file), byte => Uint8Array.of(byte))), whole)
  }
})

test('an invalid line does not affect other lines', async () => {
  const latin1 = Buffer.from(`${good.with(2, '12é4')}\n`, 'latin1')
  const brokenUtf8 = Buffer.concat([Buffer.from(`${good}`), Buffer.from([0xc3, 0x0a])])
  const invalid: [line: string | Uint8Array, verdict: RegExp][] = [
    [`"${good}\n`, /^line must be quoted/],
    [`"${iccid}"x,${good.slice(1)}\n`, /^line must be quoted/],
    [`x"${good}\n`, /^line must be quoted/],
    [`${good},\n`, /^line must have four columns/],
    [`${good.slice(1)}\n`, /^line must have four columns/],
    [' \n', /^line must have four columns/],
    [`${good}${' '.repeat(4097)}\n`, /^line must be at most 4096 bytes/],
    [`${good.with(2, '"1""4"')}\n`, /^pin1 /],
    [latin1, /^pin1 /],
    [brokenUtf8, /^activationCode /],
  ]
  const chunks = [`${header}\n`, ...invalid.flatMap(([line]) => [line, `${good}\n`])]
  for (const results of [await read(...chunks), await read(Buffer.concat(chunks.map(chunk => Buffer.from(chunk))))]) {
    assert.equal(results.length, 2 * invalid.length)
    for (const [index, [line, verdict]] of invalid.entries()) {
      const [bad, next] = results.slice(2 * index)
      assert.ok(bad)
      assert.match(verdictOf(bad.result), verdict, `${line}`)
      assert.deepEqual(next, { lineNumber: 2 * index + 3, result: checkStockLine(good) })
    }
  }
})

test('a line longer than any string the engine can hold is passed over, not kept', async () => {
  function* chunks() {
    yield Buffer.from(`${header}\n`)
    const chunk = Buffer.alloc(1024 * 1024, 'x')
    for (let count = 0; count < 600; count++) yield chunk
    yield Buffer.from(`\n${good}\n`)
  }
  const verdicts: string[] = []
  for await (const batch of readStockLines(Readable.from(chunks())))
    verdicts.push(...batch.map(({ lineNumber, result }) => `${lineNumber} ${verdictOf(result)}`))
  assert.deepEqual(verdicts, ['2 line must be at most 4096 bytes', '3 good'])
})

test('a file without a header of exactly the four columns is refused whole, and nothing of it is shown', async () => {
  const files = [
    `${good}\n${good}\n`,
    `iccid,msisdn,pin1\n`,
    `${header},puk1\n`,
    `iccid,iccid,pin1,activationCode\n`,
    `ICCID,MSISDN,PIN1,ACTIVATIONCODE\n`,
    `\n${header}\n`,
    `"${header}\n`,
    `${header};\n`,
    `${'x'.repeat(10_000)}\n${header}\n`,
  ]
  const expected = 'line 1 must be the header iccid,msisdn,pin1,activationCode (in any order)'
  for (const file of files) {
    const params = { columns: stockColumns.join(',') }
    const problems = [{ line: 1, column: null, rule: 'header', params, value: null }]
    await assert.rejects(read(file), new DomainError('invalid', expected, { problems }))
  }
  const utf16 = Buffer.from(`\ufeff${header}\n`, 'utf16le')
  const utf8 = [{ line: 1, column: null, rule: 'utf8', params: {}, value: null }]
  const advice = 'line 1 must be UTF-8 text: save the file as CSV in UTF-8'
  await assert.rejects(read(utf16), new DomainError('invalid', advice, { problems: utf8 }))
  const problems = [{ line: null, column: null, rule: 'not-empty', params: {}, value: null }]
  await assert.rejects(read(''), new DomainError('invalid', `the file is empty; ${expected}`, { problems }))
  assert.deepEqual(await read(header), [])
})

test('every error of the list that one line alone can have occurs', async () => {
  const reached = new Set(cases.map(([column, value]) => verdictOf(checkStockLine(good.with(column, value)))))
  for (const { result } of await read(`${header}\n"\n,\n${'x'.repeat(5000)}\n`)) reached.add(verdictOf(result))
  for (const error of stockErrors)
    if (error !== activationCodeTaken) assert.ok(reached.has(verdictOf({ error })), error.text)
})

test('a reader that stops early lets go of the file', async () => {
  const source = Readable.from([`${header}\n${good}\n`, `${good}\n`.repeat(3000)].map(text => Buffer.from(text)))
  for await (const _ of readStockLines(source)) break
  assert.ok(source.destroyed)
})

test('made profiles are valid, the same for a seed, and share no ICCID with another seed', async () => {
  const files = [7, 7, 8].map(seed => [...profileLines({ count: 2500, seed })].join(''))
  assert.equal(files[0], files[1])
  const iccids = new Set<string>()
  for (const file of files) {
    for (const { result } of await read(file)) {
      assert.ok('line' in result)
      iccids.add(result.line.iccid)
    }
  }
  assert.equal(iccids.size, 5000)
})
