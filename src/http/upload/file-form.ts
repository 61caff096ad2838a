/**
 * Reads a form with one file (`multipart/form-data`, contract/portal.md) while it arrives. The file is never in memory
 * as a whole.
 */
import { on } from 'node:events'
import type { IncomingHttpHeaders } from 'node:http'
import type { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { Busboy, type BusboyFileStream, type BusboyHeaders } from '@fastify/busboy'
import { ruleText } from '../../error-rules.ts'
import { DomainError } from '../../errors.ts'
import { firstCharacters } from '../../text/shown-text.ts'
import { sizeText } from '../../text/size.ts'
import { plainLines } from '../../text/text-rules.ts'
import { shownName } from '../input/field-name.ts'
import { isText } from '../input/json.ts'
import { SlowUploadError } from './upload.ts'

export const formType = 'multipart/form-data'
const fileField = 'file'
const maxFileNameLength = 200
/** The maximum number of parts; our forms have fewer. */
const maxParts = 8
const bytesBesideFile = 128 * 1024
const limits = { parts: maxParts + 1, headerPairs: 16, headerSize: 8 * 1024 }

export type FileFormRules = {
  maxBytes: number
  /** The time limit for the whole form, even if its bytes arrive without a pause. */
  maxMs: number
  /** The names of the other fields that the form may have, each with its maximum length in characters. */
  texts: Record<string, number>
}

export type FileForm = {
  /** The name of the file, to be shown to people. It has no path, and its length is bounded. */
  fileName: string
  /** The file. It ends once the whole form was read and is valid. */
  bytes: AsyncIterable<Buffer>
  /** The values of the other fields, complete once `bytes` has ended. */
  texts: ReadonlyMap<string, string>
  /** Leaves the rest of the body unread. */
  close(): Promise<void>
}

/** The error of a form that took longer than its time limit. */
export class LateFormError extends DomainError {
  constructor() {
    super('invalid', 'The upload took too long; nothing was kept')
  }
}

type Part = { name: string; fileName: string | undefined; bytes: BusboyFileStream }

/**
 * Reads a form up to the beginning of its file.
 *
 * @param source the body; the rest stays unread when the form is invalid
 * @throws DomainError 'invalid', also from `bytes`, for a form that is broken, lacks the file or has unknown parts;
 *   'too-large' for a file that is too large
 */
export async function readFileForm(
  source: Readable,
  headers: IncomingHttpHeaders,
  rules: FileFormRules,
): Promise<FileForm> {
  if (Number(headers['content-length'] ?? 0) > rules.maxBytes + bytesBesideFile) throw tooLarge(rules.maxBytes)
  const parts = partsOf(source, headers, rules)
  const texts = new Map<string, string>()
  const close = async () => void (await parts.return(undefined))
  let hasFile = false
  const nextFile = async (): Promise<Part | null> => {
    for (let part = await parts.next(); !part.done; part = await parts.next()) {
      const { name } = part.value
      if (name === fileField) {
        hasFile = true
        return part.value
      }
      const maxCharacters = Object.hasOwn(rules.texts, name) ? rules.texts[name] : undefined
      if (maxCharacters === undefined) throw unknownPart(part.value, hasFile)
      await readText(part.value, maxCharacters, texts)
    }
    return null
  }
  const bytes = async function* (file: Part) {
    let size = 0
    try {
      for await (const chunk of piecesOf(file)) {
        size += chunk.length
        if (size > rules.maxBytes) throw tooLarge(rules.maxBytes)
        yield chunk
      }
      if (await nextFile()) throw fileError('be given once only')
    } finally {
      await close()
    }
  }
  try {
    const file = await nextFile()
    if (!file) throw fileError('be given')
    if (file.fileName === undefined) throw fileError('be a file that has a name')
    return { fileName: cleanFileName(file.fileName), bytes: bytes(file), texts, close }
  } catch (error) {
    await close()
    throw error
  }
}

/**
 * Passes the body on, within its limits of size and time. All bytes of the body count, because it may have bytes before
 * the first boundary and after the last one.
 */
async function* bounded(source: Readable, { maxBytes, maxMs }: FileFormRules): AsyncGenerator<Buffer> {
  const giveUpAt = performance.now() + maxMs
  let size = 0
  for await (const chunk of source as AsyncIterable<Buffer>) {
    size += chunk.length
    if (size > maxBytes + bytesBesideFile) throw tooLarge(maxBytes)
    if (performance.now() > giveUpAt) throw new LateFormError()
    yield chunk
  }
}

const tooLarge = (maxBytes: number) => new DomainError('too-large', `The file is larger than ${sizeText(maxBytes)}`)
const partError = (name: string, must: string) => `${shownName(name) || 'the field without a name'} must ${must}`
const formError = (...errors: string[]) => new DomainError('invalid', errors)
const fileError = (must: string) => formError(partError(fileField, must))

/**
 * If the form has no file yet, a file in an unknown field is probably that file. So the error names the right field,
 * too.
 */
function unknownPart({ name, fileName }: Part, hasFile: boolean): DomainError {
  const unknown = partError(name, 'be omitted')
  return fileName === undefined || hasFile ? formError(unknown) : formError(unknown, partError(fileField, 'be given'))
}

/** The parts of the form, in order. Read each part to its end before you ask for the next one. */
async function* partsOf(
  source: Readable,
  headers: IncomingHttpHeaders,
  rules: FileFormRules,
): AsyncGenerator<Part, undefined, undefined> {
  const form = openForm(headers)
  let current: BusboyFileStream | undefined
  // Errors are reported below. Without a listener, these events would end the process.
  form.on('error', () => {})
  form.on('file', (_name, bytes) => {
    bytes.on('error', () => {})
    current = bytes
  })
  const pumped = pipeline(bounded(source, rules), form).catch((error: unknown) => {
    const textError = isReportable(error) ? error : broken()
    current?.destroy(textError)
    throw textError
  })
  pumped.catch(() => {})
  let count = 0
  try {
    for await (const [name, bytes, fileName] of on(form, 'file', { close: ['finish'] }) as AsyncIterable<PartEvent>) {
      if (++count > maxParts) throw new DomainError('invalid', `The form must have at most ${maxParts} parts`)
      yield { name: name ?? '', fileName: fileName ?? undefined, bytes }
    }
    await pumped
  } catch (error) {
    throw isReportable(error) ? error : broken()
  } finally {
    source.destroy()
  }
}

/** The bytes of a part. When a form breaks off, the library emits the error on this stream, on the form, or on both. */
async function* piecesOf(part: Part): AsyncGenerator<Buffer> {
  try {
    yield* part.bytes as AsyncIterable<Buffer>
  } catch (error) {
    throw isReportable(error) ? error : broken()
  }
}

/** The library passes undefined instead of a name if the part has no name. */
type PartEvent = [name: string | null | undefined, bytes: BusboyFileStream, fileName: string | null | undefined]

const isReportable = (error: unknown): error is Error =>
  error instanceof DomainError || error instanceof SlowUploadError
const broken = () => new DomainError('invalid', 'The form must be whole: it ends before its closing boundary')

function openForm(headers: IncomingHttpHeaders) {
  try {
    // Read every part as bytes, because we decode texts ourselves.
    return new Busboy({ headers: headers as BusboyHeaders, limits, isPartAFile: () => true })
  } catch {
    throw new DomainError('invalid', 'The body must be multipart/form-data with a boundary')
  }
}

/** @param maxCharacters the maximum length of the text */
async function readText(part: Part, maxCharacters: number, texts: Map<string, string>): Promise<void> {
  const { name } = part
  const textError = (must: string) => formError(partError(name, must))
  if (texts.has(name)) throw textError('be given once only')
  const chunks: Buffer[] = []
  let size = 0
  for await (const chunk of piecesOf(part)) {
    size += chunk.length
    if (size > maxCharacters * bytesOfACharacter)
      throw textError(`be shorter than or equal to ${maxCharacters} characters`)
    chunks.push(chunk)
  }
  const text = decode(Buffer.concat(chunks))
  if (text === null) throw textError('be well-formed text without NUL')
  if ([...text].length > maxCharacters) throw textError(`be shorter than or equal to ${maxCharacters} characters`)
  if (!plain.test(text)) throw textError(ruleText({ rule: 'plain-lines', params: {} }))
  texts.set(name, text)
}

const bytesOfACharacter = 4
const plain = new RegExp(plainLines, 'u')
const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })

function decode(bytes: Buffer): string | null {
  try {
    const text = utf8.decode(bytes)
    return isText(text) ? text : null
  } catch {
    return null
  }
}

function cleanFileName(params: string): string {
  const cleaned = params
    .toWellFormed()
    .replace(/[\p{C}\u2028\u2029]/gu, '')
    .trim()
  return firstCharacters(cleaned, maxFileNameLength) || 'unnamed'
}
