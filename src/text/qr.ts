/** Draws activation codes as QR codes. */
import { crc32, deflateSync } from 'node:zlib'
import { encodeQR } from 'qr'

export const mimeType = 'image/png'

const sidePixels = 512
const quietZoneModules = 4
const bytesPerRow = 1 + sidePixels / 8
const upFilter = 2
const pngSignature = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a])
const pngHeader = pngChunk('IHDR', headerFields())
const pngEnd = pngChunk('IEND', Buffer.alloc(0))

/**
 * Draws a text (an activation code) as a QR code: a PNG of exactly 512x512 pixels, 1-bit greyscale, error correction M,
 * with a quiet zone of at least 4 modules (contract/esim.md, "The QR code").
 * @throws RangeError when the text has more than 2331 bytes of UTF-8; the error does not repeat the text
 */
export function qrPng(text: string): Buffer {
  const pixels = deflateSync(drawRows(modulesOf(text)), { level: 3, memLevel: 7 })
  return Buffer.concat([pngSignature, pngHeader, pngChunk('IDAT', pixels), pngEnd])
}

function modulesOf(text: string): boolean[][] {
  try {
    return encodeQR(text, 'raw', { ecc: 'medium', border: quietZoneModules })
  } catch {
    // The text is an installation secret, and the encoder's own error might repeat it.
    throw new RangeError('The text does not fit into a QR code')
  }
}

/** The rows of the picture in PNG's format: a filter byte, then 8 pixels in each byte; 1 is white. */
function drawRows(modules: boolean[][]): Buffer {
  const scale = Math.floor(sidePixels / modules.length)
  const margin = Math.floor((sidePixels - modules.length * scale) / 2)
  const rows = Buffer.alloc(bytesPerRow * sidePixels)
  // A row of zero bytes with the filter "up" repeats the row above, so only rows that differ are drawn.
  for (let y = 0; y < sidePixels; y++) rows[y * bytesPerRow] = upFilter
  drawRow(rows, 0, [], margin, scale)
  for (const [index, row] of modules.entries()) drawRow(rows, margin + index * scale, row, margin, scale)
  drawRow(rows, margin + modules.length * scale, [], margin, scale)
  return rows
}

function drawRow(rows: Buffer, y: number, modules: boolean[], margin: number, scale: number): void {
  if (y >= sidePixels) return
  const start = y * bytesPerRow
  rows[start] = 0
  rows.fill(0xff, start + 1, start + bytesPerRow)
  for (const [index, dark] of modules.entries()) {
    if (!dark) continue
    const from = margin + index * scale
    for (let x = from; x < from + scale; x++) {
      const at = start + 1 + (x >> 3)
      rows[at] = (rows[at] ?? 0) & ~(0x80 >> (x & 7))
    }
  }
}

function headerFields(): Buffer {
  const fields = Buffer.alloc(13)
  fields.writeUInt32BE(sidePixels, 0)
  fields.writeUInt32BE(sidePixels, 4)
  // The bit depth is 1. All following fields are 0: colour type (greyscale), compression, filter and interlacing.
  fields[8] = 1
  return fields
}

function pngChunk(type: string, content: Buffer): Buffer {
  const chunk = Buffer.alloc(12 + content.length)
  chunk.writeUInt32BE(content.length, 0)
  chunk.write(type, 4, 'latin1')
  content.copy(chunk, 8)
  chunk.writeUInt32BE(crc32(chunk.subarray(4, 8 + content.length)), 8 + content.length)
  return chunk
}
