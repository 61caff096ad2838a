/** Files that people save: their name in every alphabet (RFC 6266), and nothing that a browser may take for a page of ours. */
export function downloadHeaders(fileName: string): Record<string, string> {
  const ascii = fileName.replace(/[^\x20-\x7e]|["\\%]/g, '_')
  const encoded = encodeURIComponent(fileName).replace(
    /['()*]/g,
    character => `%${character.charCodeAt(0).toString(16).toUpperCase()}`,
  )
  return {
    'content-disposition': `attachment; filename="${ascii}"; filename*=UTF-8''${encoded}`,
    'content-type': 'text/csv',
    'content-security-policy': "default-src 'none'; sandbox",
  }
}
