/**
 * Compresses long answers (RFC 9110, 12.5.3) at low levels, because higher ones cost more processor time than they save on the
 * network.
 */
import type { Transform } from 'node:stream'
import { promisify } from 'node:util'
import zlib from 'node:zlib'

/** The codings that we can send, in the order of our preference. */
const codings = ['zstd', 'gzip', 'br'] as const
export type Encoding = (typeof codings)[number] | 'identity'

const { constants } = zlib
const chunkSize = 64 * 1024
const zstd = { chunkSize, params: { [constants.ZSTD_c_compressionLevel]: 1 } }
const gzip = { chunkSize, level: 1 }
const brotli = { chunkSize, params: { [constants.BROTLI_PARAM_QUALITY]: 1 } }

const encoders = {
  zstd: () => zlib.createZstdCompress({ ...zstd, flush: constants.ZSTD_e_flush }),
  gzip: () => zlib.createGzip({ ...gzip, flush: constants.Z_SYNC_FLUSH }),
  br: () => zlib.createBrotliCompress({ ...brotli, flush: constants.BROTLI_OPERATION_FLUSH }),
}
const [compressZstd, compressGzip, compressBrotli] = [
  promisify(zlib.zstdCompress),
  promisify(zlib.gzip),
  promisify(zlib.brotliCompress),
]
const compress = {
  zstd: (bytes: Buffer) => compressZstd(bytes, zstd),
  gzip: (bytes: Buffer) => compressGzip(bytes, gzip),
  br: (bytes: Buffer) => compressBrotli(bytes, brotli),
}

/**
 * Chooses the coding that the client prefers. Among equally preferred codings, our own order decides.
 *
 * @param header `Accept-Encoding`; unreadable parts are ignored
 */
export function chooseEncoding(header: string | undefined): Encoding {
  const weights = new Map((header ?? '').split(',').map(readCoding))
  const weightOf = (coding: string) => weights.get(coding) ?? weights.get('*') ?? 0
  // `identity` is accepted even if the header does not name it, but any named coding is preferred.
  const identity = weights.get('identity') ?? 0
  const best = codings.reduce((one, other) => (weightOf(other) > weightOf(one) ? other : one))
  return weightOf(best) > 0 && weightOf(best) >= identity ? best : 'identity'
}

function readCoding(item: string): [string, number] {
  const [, coding = '', weight = '1'] = /^\s*([^\s;]+)\s*(?:;\s*q\s*=\s*([01](?:\.\d{0,3})?)\s*)?$/i.exec(item) ?? []
  const name = coding.toLowerCase()
  return [name === 'x-gzip' ? 'gzip' : name, Math.min(Number(weight), 1)]
}

/** Compresses a whole answer. */
export async function encodeBytes(bytes: Buffer, encoding: Encoding): Promise<Buffer> {
  return encoding === 'identity' ? bytes : compress[encoding](bytes)
}

/** A stream that compresses what is written to it, and passes each piece on at once. */
export const createEncoder = (encoding: Exclude<Encoding, 'identity'>): Transform => encoders[encoding]()
