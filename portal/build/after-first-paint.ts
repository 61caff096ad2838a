/**
 * The portal's script is fetched at once and run after the first screen has been painted, by `public/first-paint.js`: else the browser
 * would show nothing until all of it has run.
 */
import type { Plugin } from 'vite'

export function afterFirstPaint(): Plugin {
  return {
    name: 'after-first-paint',
    apply: 'build',
    transformIndexHtml: {
      order: 'post',
      handler(html) {
        const entry = /<script type="module"( crossorigin) src="([^"]+)"( nonce="[^"]+")?><\/script>\s*/
        const found = html.match(entry)
        if (!found) throw new Error('The page has no script of its own')
        const [, crossorigin, src, nonce = ''] = found
        // Last of all: before it stand the files that it needs. What the first screen needs comes before any of them.
        return html
          .replace(entry, '')
          .replace(/\s*<\/head>/, `\n    <link rel="modulepreload"${crossorigin} href="${src}"${nonce}>\n  </head>`)
          .replaceAll('<link rel="modulepreload"', '<link rel="modulepreload" data-first fetchpriority="low"')
      },
    },
  }
}
