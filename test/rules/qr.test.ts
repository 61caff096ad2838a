import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { crc32, inflateSync } from 'node:zlib'
import { mimeType, qrPng } from '../../src/text/qr.ts'
import { requireProgram } from '../support/require-program.ts'

const texts: Record<string, string> = {
  'a short activation code': 'LPA:1$a.example$1',
  'an ordinary activation code': 'LPA:1$smdp.operator.example$7F3A-0B1C-95DE-A1B2',
  'an activation code with an object id and a confirmation flag':
    'LPA:1$smdp.operator.example$7F3A0B1C$1.3.6.1.4.1.31746$1',
  'the longest activation code': 'LPA:1$smdp.operator.example$'.padEnd(255, 'aB3-xY9.'),
  'Ukrainian text': 'Код активації: їжак, ґанок, Євшан',
  'the longest Ukrainian text': 'Ґанок і їжак '.repeat(20).slice(0, 255),
}

for (const [what, text] of Object.entries(texts)) {
  test(`the picture of ${what} decodes to exactly that text`, t => {
    if (!requireProgram(t, 'zbarimg')) return
    assert.equal(decode(qrPng(text)), text)
  })

  test(`the picture of ${what} is a 512x512 PNG of 1-bit greyscale with a quiet zone of 4 modules`, () => {
    const pixels = readPng(qrPng(text))
    const dark = pixels.flatMap((row, y) => row.flatMap((isDark, x) => (isDark ? [{ x, y }] : [])))
    const left = Math.min(...dark.map(({ x }) => x))
    const right = Math.max(...dark.map(({ x }) => x))
    const top = Math.min(...dark.map(({ y }) => y))
    const bottom = Math.max(...dark.map(({ y }) => y))
    // The finder pattern at the upper left corner begins with a row of seven dark modules.
    const finder = pixels[top]?.slice(left).indexOf(false) ?? 0
    assert.equal(finder % 7, 0)
    const module = finder / 7
    assert.equal((right - left + 1) % module, 0)
    for (const margin of [left, top, 511 - right, 511 - bottom]) assert.ok(margin >= 4 * module, `${margin}, ${module}`)
    assert.ok(Math.abs(left - (511 - right)) <= 1 && Math.abs(top - (511 - bottom)) <= 1, 'centred')
  })

  test(`the picture of ${what} has error correction M`, () => {
    const pixels = readPng(qrPng(text))
    const top = pixels.findIndex(row => row.includes(true))
    const left = pixels[top]?.indexOf(true) ?? 0
    const module = (pixels[top]?.slice(left).indexOf(false) ?? 0) / 7
    const at = (column: number) => pixels[top + 8 * module]?.[left + column * module]
    // The first two format bits, unmasked with 10 (ISO/IEC 18004, 7.9): M is 00.
    assert.deepEqual([at(0), at(1)], [true, false])
  })
}

test('a text that is too long for a QR code causes an error that does not contain it', () => {
  const secret = 'LPA:1$smdp.operator.example$'.padEnd(2332, 'x')
  assert.throws(
    () => qrPng(secret),
    (error: Error) => error instanceof RangeError && !String(error.stack).includes('LPA'),
  )
  assert.equal(readPng(qrPng(secret.slice(0, 2331))).length, 512)
})

test('the media type is that of a PNG', () => assert.equal(mimeType, 'image/png'))

function decode(png: Buffer): string {
  const directory = mkdtempSync(join(tmpdir(), 'perkline-qr-'))
  try {
    writeFileSync(join(directory, 'qr.png'), png)
    const output = execFileSync('zbarimg', ['--quiet', '--raw', join(directory, 'qr.png')], {
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'ignore'],
    })
    return output.replace(/\n$/, '')
  } finally {
    rmSync(directory, { recursive: true })
  }
}

/** Reads a PNG that uses only the filters "none" and "up"; fails on anything but 512x512 pixels of 1-bit greyscale. */
function readPng(png: Buffer): boolean[][] {
  assert.equal(png.subarray(0, 8).toString('latin1'), '\x89PNG\r\n\x1a\n')
  const chunks = new Map<string, Buffer>()
  for (let at = 8; at < png.length; at += 12 + png.readUInt32BE(at)) {
    const end = at + 8 + png.readUInt32BE(at)
    assert.equal(png.readUInt32BE(end), crc32(png.subarray(at + 4, end)))
    chunks.set(png.toString('latin1', at + 4, at + 8), png.subarray(at + 8, end))
  }
  assert.deepEqual([...chunks.keys()], ['IHDR', 'IDAT', 'IEND'])
  const header = chunks.get('IHDR') ?? Buffer.alloc(13)
  assert.deepEqual([header.readUInt32BE(0), header.readUInt32BE(4)], [512, 512])
  assert.deepEqual([...header.subarray(8)], [1, 0, 0, 0, 0])
  const rows = inflateSync(chunks.get('IDAT') ?? Buffer.alloc(0))
  assert.equal(rows.length, 512 * 65)
  let above = Buffer.alloc(64)
  return Array.from({ length: 512 }, (_, y) => {
    const filter = rows[y * 65]
    assert.ok(filter === 0 || filter === 2)
    const row = Buffer.from(rows.subarray(y * 65 + 1, (y + 1) * 65))
    if (filter === 2) for (const [x, byte] of above.entries()) row[x] = ((row[x] ?? 0) + byte) & 0xff
    above = row
    return Array.from({ length: 512 }, (_, x) => (((row[x >> 3] ?? 0) >> (7 - (x & 7))) & 1) === 0)
  })
}
