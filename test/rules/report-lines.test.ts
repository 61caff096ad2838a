/**
 * The file of a report (contract/reconciliation.md, "The report file"): every form that a value may have, and every
 * error by line, column and value.
 */
import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { DomainError } from '../../src/errors.ts'
import type { Side } from '../../src/reconciliation/differences.ts'
import { maxReportLines, type ReportLine, readReportLines } from '../../src/reconciliation/report-lines.ts'
import { problemText } from '../../src/reconciliation/report-rules.ts'

const header = 'transactionId,terminalId,transactionAt,amount,cashbackAmount'
const at = '2026-12-03T10:15:00Z'
const good = `tx-1,T-1,${at},200.00,10.00`

async function* pieces(bytes: Buffer, size: number): AsyncGenerator<Buffer> {
  for (let from = 0; from < bytes.length; from += size) yield bytes.subarray(from, from + size)
}

async function read(file: string | Buffer, side: Side = 'bank', size = 7) {
  const lines: ReportLine[] = []
  const errors: string[] = []
  for await (const some of readReportLines(pieces(Buffer.from(file), size), side)) {
    lines.push(...some.lines)
    errors.push(...some.errors.map(problemText))
  }
  return { lines, errors }
}

/** Returns the errors of a report with this single line. */
const errorsOf = async (values: string, side: Side = 'bank') => (await read(`${header}\n${values}\n`, side)).errors

const refused = (file: string | Buffer, details: string[], side: Side = 'bank') =>
  assert.rejects(read(file, side), (error: unknown) => {
    assert.ok(error instanceof DomainError, String(error))
    assert.deepEqual(error.details, details)
    return true
  })

suite('a report as it may be', () => {
  const expected: ReportLine = {
    lineNumber: 2,
    transactionId: 'tx-1',
    terminalId: 'T-1',
    transactionAt: new Date(at),
    amount: '200.00',
    cashbackAmount: '10.00',
  }
  const forms: [string, string][] = [
    ['as described', `${header}\n${good}\n`],
    ['without a line end at its end', `${header}\n${good}`],
    ['CRLF', `${header}\r\n${good}\r\n`],
    ['a byte-order mark', `\ufeff${header}\n${good}\n`],
    ['quoted values', `"transactionId",${header.slice(14)}\n"tx-1","T-1","${at}","200.00",10.00\n`],
    [
      'columns in another order',
      `amount,cashbackAmount,terminalId,transactionId,transactionAt\n200.00,10.00,T-1,tx-1,${at}\n`,
    ],
    ['empty lines at its end', `${header}\n${good}\n\n\r\n`],
  ]
  for (const [name, file] of forms)
    test(name, async () => {
      for (const size of [1, 5, 10_000])
        assert.deepEqual(await read(file, 'bank', size), { lines: [expected], errors: [] })
    })

  test('an empty line counts as a line of the file', async () => {
    const { lines } = await read(`${header}\n\n\n${good}\n`)
    assert.equal(lines[0]?.lineNumber, 4)
  })
  test('no line at all', async () => assert.deepEqual(await read(`${header}\n`), { lines: [], errors: [] }))
  test('ids in any alphabet, with commas, quotes and backslashes', async () => {
    const { lines } = await read(`${header}\n"чек ""7"", №\\N",Каса 😀,${at},1,0\n`)
    assert.deepEqual([lines[0]?.transactionId, lines[0]?.terminalId], ['чек "7", №\\N', 'Каса 😀'])
  })
  test('a merchant may leave the cashback out, as a column or as a value', async () => {
    const without = await read(`transactionId,terminalId,transactionAt,amount\ntx-1,T-1,${at},200.00\n`, 'merchant')
    assert.deepEqual(without.lines, [{ ...expected, cashbackAmount: null }])
    const empty = await read(`${header}\ntx-1,T-1,${at},200.00,\n${good}\n`, 'merchant')
    assert.deepEqual(
      empty.lines.map(({ cashbackAmount }) => cashbackAmount),
      [null, '10.00'],
    )
  })
})

suite('values', () => {
  const column = (name: string, value: string): string => {
    const values: Record<string, string> = {
      transactionId: 'tx',
      terminalId: 'T',
      transactionAt: at,
      amount: '1',
      cashbackAmount: '1',
    }
    return Object.values({ ...values, [name]: /[",]/.test(value) ? `"${value.replaceAll('"', '""')}"` : value }).join(
      ',',
    )
  }
  const taken: Record<string, string[]> = {
    transactionId: ['1', 'x'.repeat(128), '😀'.repeat(128), 'a b', '='],
    terminalId: ['1', 'x'.repeat(128)],
    transactionAt: [
      at,
      '2026-12-03T10:15Z',
      '2026-12-03T10:15:00.123456789+02:00',
      '1970-01-01T00:00:00Z',
      '2024-02-29T23:59:59.999-11:30',
      '9999-12-31T23:59:59Z',
    ],
    amount: ['0', '0.00', '0.5', '200', '00200.10', '9999999999.99', '0'.repeat(30)],
    cashbackAmount: ['0', '9999999999.99'],
  }
  const date = 'must be an ISO 8601 date and time with a time zone, from 1970 to 9999'
  const decimal = 'must be a decimal number with at most 2 decimals'
  const id = 'must be one line of 1 to 128 characters'
  const visible = 'must be one line of 1 to 128 visible characters, without a space at either end'
  const money: [string, string][] = [
    ['', decimal],
    ['12,5', decimal],
    ['12.345', decimal],
    ['1e3', decimal],
    ['+1', decimal],
    [' 1', decimal],
    ['.5', decimal],
    ['5.', decimal],
    ['0x10', decimal],
    ['NaN', decimal],
    ['١', decimal],
    ['-1', 'must be at least 0'],
    ['-0.01', 'must be at least 0'],
    ['10000000000', 'must be at most 9999999999.99'],
    [`1${'0'.repeat(40)}`, 'must be at most 9999999999.99'],
  ]
  const faulty: Record<string, [string, string][]> = {
    transactionId: [
      ['', id],
      ['   ', id],
      ['x'.repeat(129), id],
      ['a\tb', id],
      ['a\0b', 'must be well-formed Unicode without NUL'],
      ...[' a', 'a ', 'a\u00a0b', 'a\u200bb', 'a\ufeff', '\u202ea', 'a\u3000'].map(
        text => [text, visible] as [string, string],
      ),
    ],
    terminalId: [
      ['', id],
      ['x'.repeat(129), id],
    ],
    transactionAt: [
      ['', date],
      ['2026-12-03', date],
      ['2026-12-03T10:15:00', date],
      ['2026-12-03 10:15:00Z', date],
      ['2026-02-29T10:15:00Z', date],
      ['2026-13-01T10:15:00Z', date],
      ['2026-12-03T24:00:00Z', date],
      ['2026-12-03T10:15:60Z', date],
      ['1969-12-31T23:59:59Z', date],
      ['03.12.2026 10:15', date],
      ['1765000000', date],
    ],
    amount: money,
    cashbackAmount: money,
  }
  for (const [name, values] of Object.entries(taken))
    test(`${name}: taken`, async () => {
      for (const value of values) assert.deepEqual(await errorsOf(column(name, value)), [], value)
    })
  for (const [name, values] of Object.entries(faulty))
    test(`${name}: named with its value`, async () => {
      for (const [value, must] of values) {
        const [error = '', ...others] = await errorsOf(column(name, value))
        assert.deepEqual(others, [])
        assert.ok(error.startsWith(`line 2: ${name} ${must}, not "`), `${JSON.stringify(value)}: ${error}`)
        if (/^[\x20-\x7e]{1,40}$/.test(value)) assert.equal(error, `line 2: ${name} ${must}, not "${value}"`)
      }
    })

  test('a merchant’s cashback that is given must be right too', async () => {
    assert.deepEqual(await errorsOf(`tx,T,${at},1,x`, 'merchant'), [
      'line 2: cashbackAmount must be a decimal number with at most 2 decimals, not "x"',
    ])
  })
  test('every error of a line is named', async () => {
    assert.deepEqual(await errorsOf(',,,,x'), [
      `line 2: transactionId ${id}, not ""`,
      `line 2: terminalId ${id}, not ""`,
      `line 2: transactionAt ${date}, not ""`,
      `line 2: amount ${decimal}, not ""`,
      `line 2: cashbackAmount ${decimal}, not "x"`,
    ])
  })
  test('a value is shown without control characters and cut', async () => {
    const [control] = await errorsOf(`tx,T,${at},a\x1b[31m,1`)
    assert.equal(control, `line 2: amount ${decimal}, not "a?[31m"`)
    const [long] = await errorsOf(`tx,T,${at},${'9'.repeat(99)}😀9,1`)
    assert.equal(long, `line 2: amount ${decimal}, not "${'9'.repeat(99)}😀…"`)
  })
})

suite('lines', () => {
  const cases: [string, string | Buffer, string][] = [
    ['too few values', 'tx,T', 'must have 5 values, as the header has, not 2'],
    ['too many values', `${good},x`, 'must have 5 values, as the header has, not 6'],
    ['an empty row of a spreadsheet', ',,,,', 'must have 5 values, as the header has, not 0'],
    ['another one', ' ,"",,', 'must have 5 values, as the header has, not 0'],
    ['a decimal comma', `tx-1,T-1,${at},200,00,10,00`, 'must have 5 values, as the header has, not 7'],
    ['a stray quote', `tx-1,"T-1,${at},200.00,10.00`, 'must be quoted as in RFC 4180, without a line break in a value'],
    [
      'a quote behind a quoted value',
      `tx-1,"T"1,${at},200.00,10.00`,
      'must be quoted as in RFC 4180, without a line break in a value',
    ],
    ['a line too long', `tx-1,${'T'.repeat(5000)},${at},200.00,10.00`, 'must be at most 4096 bytes'],
    ['bytes that are no UTF-8', Buffer.from(`tx-\xe9,T-1,${at},200.00,10.00`, 'latin1'), 'must be valid UTF-8'],
  ]
  for (const [name, line, error] of cases)
    test(`${name}: costs this line and no other`, async () => {
      const file = Buffer.concat([Buffer.from(`${header}\n${good}\n`), Buffer.from(line), Buffer.from(`\n${good}\n`)])
      for (const size of [3, 10_000]) {
        const { lines, errors } = await read(file, 'bank', size)
        assert.deepEqual(errors, [`line 3: ${error}`])
        assert.deepEqual(
          lines.map(({ lineNumber }) => lineNumber),
          [2, 4],
        )
      }
    })
})

suite('files that are no report', () => {
  const rule = `line 1: the header must be ${header} (in any order), not`
  const notUtf8 = 'line 1: must be valid UTF-8'
  const cases: [string, string | Buffer, string[]][] = [
    ['nothing', '', ['file must not be empty: its line 1 is the header']],
    ['a byte-order mark alone', '\ufeff', [`${rule} ""`]],
    ['no header', `${good}\n`, [`${rule} "${good}"`]],
    ['a column missing', `${header.slice(14)}\n`, [`${rule} "${header.slice(14)}"`]],
    [
      'a column too many',
      `a,${header}\n`,
      [`${rule} "a,transactionId,terminalId,transactionAt,amount,cashbackAmount"`],
    ],
    [
      'a column twice',
      `amount,${header}\n`,
      [`${rule} "amount,transactionId,terminalId,transactionAt,amount,cashbackAmount"`],
    ],
    [
      'other letters',
      `TransactionId${header.slice(13)}\n`,
      [`${rule} "TransactionId,terminalId,transactionAt,amount,cashbackAmount"`],
    ],
    ['semicolons', `a;b\n`, [`${rule} "a;b"`]],
    ['a picture', Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a, 0xff]), [notUtf8]],
    ['another encoding', Buffer.from(`\ufeff${header}\n${good}\n`, 'utf16le'), [notUtf8]],
  ]
  for (const [name, file, details] of cases) test(name, () => refused(file, details))

  test('a bank may not leave the cashback out', () =>
    refused(`transactionId,terminalId,transactionAt,amount\n`, [
      `${rule} "transactionId,terminalId,transactionAt,amount"`,
    ]))
  test('a merchant may leave out nothing else', () =>
    refused(
      `transactionId,terminalId,transactionAt,cashbackAmount\n`,
      [
        `line 1: the header must be ${header} (in any order; cashbackAmount may be left out), ` +
          'not "transactionId,terminalId,transactionAt,cashbackAmount"',
      ],
      'merchant',
    ))
})

suite('a million lines are taken, in bounded pieces, and one more is not', () => {
  const file = async function* (line: string, lines: number) {
    const thousand = Buffer.from(line.repeat(1_000))
    yield Buffer.from(`${header}\n`)
    for (let sent = 0; sent < lines; sent += 1_000)
      yield thousand.subarray(0, Math.min(1_000, lines - sent) * line.length)
  }
  for (const [what, line, expected] of [
    ['lines', `${good}\n`, 1_000_000],
    ['blank lines', '\n', 0],
  ] as const)
    test(what, async () => {
      let count = 0
      for await (const { lines } of readReportLines(file(line, maxReportLines), 'bank')) {
        assert.ok(lines.length <= 1_000)
        count += lines.length
      }
      assert.equal(count, expected)
      await assert.rejects(
        async () => {
          for await (const _ of readReportLines(file(line, maxReportLines + 1), 'bank'));
        },
        { details: ['file must have at most 1000000 lines below its header'] },
      )
    })
})

test('a byte-order mark is left out at the beginning of the file, and a character like others elsewhere', async () => {
  const { lines, errors } = await read(`\ufeff${header}\ntx-1,\ufeffT-1,${at},200.00,10.00\n\ufeff${good}\n`)
  assert.deepEqual(
    lines.map(({ terminalId }) => terminalId),
    ['\ufeffT-1'],
  )
  assert.equal(errors.length, 1)
})
