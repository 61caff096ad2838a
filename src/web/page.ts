/** The one page of the portal, and what a browser may do on it. */
import { randomBytes } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'

export type Page = { statusCode: 200 | 503; html: string; headers: Record<string, string> }

/** Where the build leaves room for the nonce of the one answer (Vite's `html.cspNonce`). */
const noncePlaceholder = '__CSP_NONCE__'

/** Everything from the platform itself; styles also from the page's own script, which proves itself by the nonce. */
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
 * The page with a nonce of its own: never to be shown again without asking, and never twice.
 *
 * @param folder what `npm run build` has made; without it the page says so
 */
export async function readPage(folder: string): Promise<Page> {
  const html = await readFile(join(folder, 'index.html'), 'utf8').catch(() => null)
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
