/** Forms with a file, whole and broken, in pieces of every size (contract/portal.md: uploads are `multipart/form-data`, field `file`). */
import assert from 'node:assert/strict'
import { Readable } from 'node:stream'
import { suite, test } from 'node:test'
import { DomainError } from '../../src/errors.ts'
import { readFileForm } from '../../src/http/upload/file-form.ts'

const rules = { maxBytes: 1024 * 1024, maxMs: 10_000, texts: { comment: 5 } }
const type = 'multipart/form-data; boundary=cut'
const end = '--cut--\r\n'

const part = (disposition: string, content: string | Buffer): Buffer =>
  Buffer.concat([
    Buffer.from(`--cut\r\nContent-Disposition: form-data; ${disposition}\r\n\r\n`),
    Buffer.from(content),
    Buffer.from('\r\n'),
  ])
const file = (content: string | Buffer, name = 'a.csv') => part(`name="file"; filename="${name}"`, content)
const form = (...parts: (string | Buffer)[]) => Buffer.concat(parts.map(piece => Buffer.from(piece)))

async function read(body: Buffer, given: { size?: number; contentType?: string; rules?: Partial<typeof rules> } = {}) {
  const { size = 11, contentType = type } = given
  const pieces = Array.from({ length: Math.ceil(body.length / size) }, (_, at) =>
    body.subarray(at * size, (at + 1) * size),
  )
  const opened = await readFileForm(
    Readable.from(pieces),
    { 'content-type': contentType },
    { ...rules, ...given.rules },
  )
  const chunks: Buffer[] = []
  for await (const chunk of opened.bytes) chunks.push(chunk)
  return { fileName: opened.fileName, content: Buffer.concat(chunks), texts: Object.fromEntries(opened.texts) }
}

const refused = (body: Buffer, details: string | string[], given: Parameters<typeof read>[1] = {}) =>
  assert.rejects(read(body, given), (error: unknown) => {
    assert.ok(error instanceof DomainError, String(error))
    assert.equal(error.code, 'invalid')
    assert.deepEqual(error.details, details)
    return true
  })

test('the file comes byte for byte, in pieces of whatever size, also with other boundaries within', async () => {
  const content = Buffer.concat([
    Buffer.from('\r\n--cu\r\n-- cut\r\n--Cut\r'),
    Buffer.from(Array.from({ length: 1024 }, (_, index) => index % 256)),
    Buffer.from('\r\n--\r\n--cu'),
  ])
  const body = form(part('name="comment"', 'так'), file(content, 'Звіт.csv'), end)
  for (const size of [1, 2, 3, 7, 64, 1000, body.length]) {
    const whole = await read(body, { size })
    assert.ok(whole.content.equals(content), `${size}`)
    assert.deepEqual([whole.fileName, whole.texts], ['Звіт.csv', { comment: 'так' }])
  }
})

test('the other fields may come behind the file', async () => {
  const { content, texts } = await read(form(file('x'), part('name="comment"', '12345'), end))
  assert.deepEqual([content.toString(), texts], ['x', { comment: '12345' }])
})

test('an empty file is a file', async () => {
  assert.equal((await read(form(file(''), end))).content.length, 0)
})

test('a file name is shown without its path, without control characters, and bounded', async () => {
  const names: [string, string][] = [
    ['C:\\reports\\may.csv', 'may.csv'],
    ['../../etc/passwd', 'passwd'],
    ['..', 'unnamed'],
    ['', 'unnamed'],
    ['a\tb\u0000c\u202Ed.csv', 'abcd.csv'],
    ['я'.repeat(300), 'я'.repeat(200)],
    ['😀'.repeat(201), '😀'.repeat(200)],
  ]
  for (const [given, shown] of names) assert.equal((await read(form(file('x', given), end))).fileName, shown)
})

suite('refused', () => {
  const comment = (text: string | Buffer) => part('name="comment"', text)
  const cases: [string, Buffer, string | string[]][] = [
    ['no file', form(comment('a'), end), ['file must be given']],
    ['no part at all', form(end), ['file must be given']],
    ['a second file', form(file('a'), file('b'), end), ['file must be given once only']],
    ['a text in place of the file', form(part('name="file"', 'a'), end), ['file must be a file that has a name']],
    [
      'another name for the file',
      form(part('name="report"; filename="a.csv"', 'a'), end),
      ['report must be omitted', 'file must be given'],
    ],
    [
      'a second file with another name',
      form(file('a'), part('name="report"; filename="a.csv"', 'a'), end),
      ['report must be omitted'],
    ],
    [
      'a field with the name of a property of every object',
      form(part('name="constructor"', 'a'), file('a'), end),
      ['constructor must be omitted'],
    ],
    ['a field too many before', form(part('name="side"', 'a'), file('a'), end), ['side must be omitted']],
    ['a field too many behind', form(file('a'), part('name="side"', 'a'), end), ['side must be omitted']],
    [
      'a file without a name of its field',
      form(part('filename="a.csv"', 'a'), end),
      ['the field without a name must be omitted', 'file must be given'],
    ],
    ['a field given twice', form(comment('a'), comment('a'), file('a'), end), ['comment must be given once only']],
    [
      'a text too long',
      form(comment('123456'), file('a'), end),
      ['comment must be shorter than or equal to 5 characters'],
    ],
    [
      'a text far too long',
      form(file('a'), comment('1'.repeat(50_000)), end),
      ['comment must be shorter than or equal to 5 characters'],
    ],
    [
      'a text that is no UTF-8',
      form(comment(Buffer.from([0xc3, 0x28])), file('a'), end),
      ['comment must be well-formed text without NUL'],
    ],
    ['NUL in a text', form(comment('\0'), file('a'), end), ['comment must be well-formed text without NUL']],
    [
      'too many parts',
      form(file('a'), ...Array.from({ length: 9 }, () => file('b')), end),
      ['file must be given once only'],
    ],
  ]
  for (const [name, body, details] of cases)
    test(name, async () => {
      for (const size of [1, 16, body.length]) await refused(body, details, { size })
    })

  const broken = 'The form must be whole: it ends before its closing boundary'
  const whole = form(file('hello'), comment('b'), end)
  test('a form that breaks off, wherever', async () => {
    for (let length = 0; length < whole.length - 4; length++)
      for (const size of [5, 1000]) await refused(whole.subarray(0, length), broken, { size })
  })
  test('no form', () => refused(Buffer.from('transactionId,terminalId\n'), broken))
  test('no boundary', () =>
    refused(whole, 'The body must be multipart/form-data with a boundary', { contentType: 'multipart/form-data' }))
  test('an upload that takes too long', () =>
    refused(whole, 'The upload took too long; nothing was kept', { rules: { maxMs: -1 } }))
})

suite('a file that is too large', () => {
  const tooLarge = (size: string) => ({ code: 'too-large', details: `The file is larger than ${size}` })
  const body = form(file('x'.repeat(1_025)), end)
  test('is noticed as it comes', async () => {
    await assert.rejects(read(body, { rules: { maxBytes: 1_024 } }), tooLarge('1 KiB'))
    assert.equal((await read(body, { rules: { maxBytes: 1_025 } })).content.length, 1_025)
  })
  for (const [where, bodyOf] of [
    ['before the first boundary', (junk: Iterable<Buffer>) => [...junk, form(file('x'), end)]],
    ['behind the last boundary', (junk: Iterable<Buffer>) => [form(file('x'), end), ...junk]],
    ['in the headers of a part', (junk: Iterable<Buffer>) => [Buffer.from('--cut\r\nX-Filler: '), ...junk]],
  ] as const)
    test(`is noticed also by bytes ${where}`, async () => {
      let taken = 0
      const pieces = function* () {
        for (const piece of bodyOf(Array.from({ length: 100 }, () => Buffer.alloc(16 * 1024, 'a')))) {
          taken += piece.length
          yield piece
        }
      }
      const reading = async () => {
        const opened = await readFileForm(
          Readable.from(pieces(), { objectMode: false }),
          { 'content-type': type },
          { ...rules, maxBytes: 1_024 },
        )
        for await (const _ of opened.bytes);
      }
      await assert.rejects(reading, tooLarge('1 KiB'))
      assert.ok(taken < 400 * 1024, `${taken} bytes were taken`)
    })
  test('is refused unread when the length of the body says so', async () => {
    const headers = { 'content-type': type, 'content-length': '2000000' }
    await assert.rejects(readFileForm(Readable.from([]), headers, rules), tooLarge('1 MiB'))
  })
})
