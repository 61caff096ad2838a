import { ApiError, FileChangedError } from './errors.ts'

/**
 * Reads a chosen file as text. It must be in UTF-8, or in UTF-16 with a byte order mark, as spreadsheets save it. Other
 * encodings would silently turn letters into replacement characters.
 *
 * @throws ApiError that says how to save the file; FileChangedError if it has changed since the person chose it
 */
export async function readText(file: Blob): Promise<string> {
  const bytes = await file.arrayBuffer().then(
    buffer => new Uint8Array(buffer),
    () => Promise.reject(new FileChangedError()),
  )
  try {
    const text = new TextDecoder(encodingOf(bytes), { fatal: true }).decode(bytes)
    // UTF-16 without a byte order mark may also be valid UTF-8, but then the text contains NULs.
    if (!text.includes('\0')) return text
  } catch {
    // The bytes are not valid in this encoding.
  }
  const problem = { line: null, column: null, rule: 'utf8', params: {}, value: null } as const
  throw new ApiError(400, [], null, { problems: [problem] })
}

function encodingOf([first, second]: Uint8Array): string {
  if (first === 0xff && second === 0xfe) return 'utf-16le'
  if (first === 0xfe && second === 0xff) return 'utf-16be'
  return 'utf-8'
}
