/**
 * Makes the browser fetch the portal's script at once, but run it only after the first screen is painted
 * (`public/first-paint.js`). Otherwise the browser would show nothing until the whole script has run.
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
        // `public/first-paint.js` runs these links in order. The script must be the last one, because it needs the
        // files of the links before it. It also notices when one of the links with `data-first` can't be loaded.
        return html
          .replace(entry, '')
          .replace(/\s*<\/head>/, `\n    <link rel="modulepreload"${crossorigin} href="${src}"${nonce}>\n  </head>`)
          .replaceAll('<link rel="modulepreload"', '<link rel="modulepreload" data-first fetchpriority="low"')
          .replaceAll('<link rel="stylesheet"', '<link rel="stylesheet" data-first')
      },
    },
  }
}
