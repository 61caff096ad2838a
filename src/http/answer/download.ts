/**
 * Headers for files that people save. The name may be in any alphabet (RFC 6266). Browsers save the file and never show
 * it as a page of the platform.
 */
export function downloadHeaders(fileName: string): Record<string, string> {
  const ascii = fileName.replace(/[^\x20-\x7e]|["\\%]/g, '_')
  const encoded = encodeURIComponent(fileName).replace(
    /['()*]/g,
    character => `%${character.charCodeAt(0).toString(16).toUpperCase()}`,
  )
  return {
    'content-disposition': `attachment; filename="${ascii}"; filename*=UTF-8''${encoded}`,
    'content-type': 'text/csv; charset=utf-8',
    'content-security-policy': "default-src 'none'; sandbox",
  }
}
