/** The one page of the portal, and the headers that limit what a browser may do on it. */
import { randomBytes } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'

export type Page = { statusCode: 200 | 503; html: string; headers: Record<string, string> }

/** The placeholder that the build writes for the nonce of each answer (Vite's `html.cspNonce`). */
const noncePlaceholder = '__CSP_NONCE__'

/**
 * The Content-Security-Policy: everything but `data:` images must come from the platform itself.
 *
 * @param styles a further source of styles, such as the nonce of inline styles; with a space before it
 */
const policyWith = (styles: string): string =>
  [
    `default-src 'self'`,
    `script-src 'self'`,
    `style-src 'self'${styles}`,
    `img-src 'self' data:`,
    `connect-src 'self'`,
    `object-src 'none'`,
    `frame-ancestors 'none'`,
    `base-uri 'none'`,
    `form-action 'self'`,
  ].join('; ')

/** Headers of every answer below `/app/`. */
export const safetyHeaders: Record<string, string> = {
  'content-security-policy': policyWith(''),
  'x-content-type-options': 'nosniff',
  'referrer-policy': 'same-origin',
  'cross-origin-opener-policy': 'same-origin',
}

/**
 * Reads the page and writes a new nonce into it. Browsers must not reuse a stored copy without asking, so no nonce is
 * used twice.
 *
 * @param folder output of `npm run build`. If it is missing, the page says so
 */
export async function readPage(folder: string): Promise<Page> {
  const html = await readFile(join(folder, 'index.html'), 'utf8').catch(error => {
    if (error.code === 'ENOENT') return null
    throw error
  })
  if (html === null) return { statusCode: 503, html: notBuilt, headers: { 'cache-control': 'no-store' } }
  const nonce = randomBytes(16).toString('base64')
  return {
    statusCode: 200,
    html: html.replaceAll(noncePlaceholder, nonce),
    headers: { 'cache-control': 'no-cache', 'content-security-policy': policyWith(` 'nonce-${nonce}'`) },
  }
}

const notBuilt = `<!doctype html>
<html lang="en">
  <head>
    <meta charset="utf-8" />
    <meta name="viewport" content="width=device-width, initial-scale=1" />
    <title>Perkline: the portal is not built</title>
  </head>
  <body>
    <h1>The portal is not built</h1>
    <p>Run <code>npm run build</code> in the folder of the platform, then load this page again. The platform need not be restarted.</p>
  </body>
</html>
`
