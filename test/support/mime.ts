/** One part of a message with its transfer encoding decoded; a multipart has `parts` and no content of its own. */
export type MimePart = { headers: Map<string, string>; content: Buffer; parts: MimePart[] }

/**
 * Reads a message (RFC 5322 and 2045) into its tree of parts. Header names are in lower case, folded lines are joined.
 */
export function readMime(message: Buffer | string): MimePart {
  const text = typeof message === 'string' ? message : message.toString('latin1')
  const split = text.indexOf('\r\n\r\n')
  const headers = new Map<string, string>()
  for (const line of text
    .slice(0, split)
    .replaceAll(/\r\n[ \t]/g, ' ')
    .split('\r\n')) {
    const colon = line.indexOf(':')
    headers.set(line.slice(0, colon).toLowerCase(), line.slice(colon + 1).trim())
  }
  const body = text.slice(split + 4)
  const boundary = /boundary="?([^";]+)/.exec(headers.get('content-type') ?? '')?.[1]
  if (boundary !== undefined) {
    const sections = `\r\n${body}`.split(`\r\n--${boundary}`).slice(1, -1)
    return {
      headers,
      content: Buffer.alloc(0),
      parts: sections.map(section => readMime(section.replace(/^[^\n]*\n/, ''))),
    }
  }
  return { headers, content: decodeBody(body, headers.get('content-transfer-encoding') ?? '7bit'), parts: [] }
}

/** Every part that is no multipart, depth first. */
export function leaves(part: MimePart): MimePart[] {
  return part.parts.length === 0 ? [part] : part.parts.flatMap(leaves)
}

/** The text of an unstructured header with its encoded words (RFC 2047) decoded. */
export function decodeHeader(value: string): string {
  const bytes = value
    .replaceAll(/(\?=)\s+(=\?)/g, '$1$2')
    .replaceAll(/=\?utf-8\?([bq])\?([^?]*)\?=/gi, (_word, encoding: string, content: string) =>
      encoding.toLowerCase() === 'b'
        ? Buffer.from(content, 'base64').toString('latin1')
        : decodeQuotedPrintable(content.replaceAll('_', ' ')).toString('latin1'),
    )
  return Buffer.from(bytes, 'latin1').toString()
}

function decodeBody(body: string, encoding: string): Buffer {
  if (encoding === 'base64') return Buffer.from(body, 'base64')
  if (encoding === 'quoted-printable') return decodeQuotedPrintable(body)
  return Buffer.from(body, 'latin1')
}

function decodeQuotedPrintable(text: string): Buffer {
  const bytes = text
    .replaceAll(/=\r\n/g, '')
    .replaceAll(/=([\dA-F]{2})/gi, (_escape, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)))
  return Buffer.from(bytes, 'latin1')
}
