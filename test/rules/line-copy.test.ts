import assert from 'node:assert/strict'
import { Readable } from 'node:stream'
import { test } from 'node:test'
import { createLineCopier } from '../../src/cli/line-copy.ts'
import { readLines } from '../../src/text/csv-lines.ts'
import fc from '../support/properties.ts'

async function copyLines(chunks: readonly Uint8Array[], lineNumbers: readonly number[]) {
  let copied = Buffer.alloc(0)
  const copyLine = createLineCopier(Readable.from(chunks)[Symbol.asyncIterator](), async bytes => {
    copied = Buffer.concat([copied, bytes])
  })
  const lines: (string | null)[] = []
  for (const lineNumber of lineNumbers) {
    copied = Buffer.alloc(0)
    lines.push((await copyLine(lineNumber)) ? copied.toString('latin1') : null)
  }
  return lines
}

const bytesOf = (...texts: string[]) => texts.map(text => Buffer.from(text))

test('a copied line is the one that the platform counts as this line, whatever the chunks', async () => {
  const piece = fc.constantFrom('a', 'b,"', '\n', '\r', '\r\n', '\n\n', '\u00e9', '\ufeff')
  const chunks = fc.array(fc.array(piece, { minLength: 1 }).map(pieces => Buffer.from(pieces.join(''))))
  await fc.assert(
    fc.asyncProperty(chunks, fc.func(fc.boolean()), async (chunks, chosen) => {
      // The copier looks for a byte-order mark only in the first chunk. So this chunk has more than three bytes here, as in
      // every real file.
      const file = [Buffer.concat([Buffer.from('head'), ...chunks.slice(0, 1)]), ...chunks.slice(1)]
      const counted: { lineNumber: number; text: string | undefined }[] = []
      for await (const lines of readLines(Readable.from(file))) counted.push(...lines)
      const wanted = counted.filter(({ lineNumber }) => chosen(lineNumber))
      const copied = await copyLines(
        file,
        wanted.map(({ lineNumber }) => lineNumber),
      )
      assert.deepEqual(
        copied,
        wanted.map(({ text }) => text),
      )
    }),
  )
})

test('a byte-order mark is no part of the first line, and the last line needs no end', async () => {
  assert.deepEqual(await copyLines(bytesOf('\ufeffone\r\ntwo'), [1, 2]), ['one', 'two'])
})

test('a line end that two chunks share is left out, and a carriage return inside a line is not', async () => {
  assert.deepEqual(await copyLines(bytesOf('a\r', '\nb\r', 'c\n'), [1, 2]), ['a', 'b\rc'])
})

test('a line of any length is copied whole', async () => {
  const long = 'x'.repeat(100_000)
  assert.deepEqual(await copyLines(bytesOf('head\n', long, long, '\nlast'), [2, 3]), [long + long, 'last'])
})

test('a line behind the end of the file is not there', async () => {
  assert.deepEqual(await copyLines(bytesOf('one\ntwo\n'), [2, 4]), ['two', null])
})
