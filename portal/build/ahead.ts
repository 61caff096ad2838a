/**
 * Writes into the page which files its first pages need and which data they read. `public/first-paint.js` requests both
 * while the portal's own script is loaded; otherwise the requests would begin only after the script has run.
 */
import type { Plugin } from 'vite'

const layout = 'src/app/layout.tsx'

/**
 * The modules of the pages that people open first, by the address below `/app`. The empty address stands for all other
 * pages, of which only the layout is known.
 */
const firstPages: Record<string, string[]> = {
  '': [layout],
  '/login': ['src/app/login-page.tsx'],
  '/merchant': [layout, 'src/merchant/pages/home.tsx'],
  '/merchant/campaigns': [layout, 'src/merchant/pages/campaigns.tsx'],
  '/bank': [layout, 'src/bank/pages/home.tsx'],
  '/bank/campaigns': [layout, 'src/bank/pages/campaigns-area.tsx', 'src/bank/pages/campaigns.tsx'],
  '/operator': [layout, 'src/operator/pages/home.tsx'],
}

const session = '/portal/session'
const home = (waitsFor: 'me' | 'other') => `/portal/home?waitsFor=${waitsFor}&page=1&pageSize=10`

/**
 * The reads of these pages without filters. Each address must be exactly the one that the page requests; otherwise the
 * data is requested twice.
 */
const firstReads: Record<string, string[]> = {
  '': [session],
  '/login': [],
  '/merchant': [session, home('me'), home('other')],
  '/merchant/campaigns': [session, '/cashbacks/for-merchant?pageSize=20', home('me')],
  '/bank': [session, home('me'), home('other')],
  '/bank/campaigns': [session, '/portal/cashbacks?page=1&pageSize=20&sortBy=createdAt&sortOrder=DESC', home('me')],
  '/operator': [session, '/admin/overview', '/admin/stock-desk', '/admin/audit/last'],
}

type Chunk = { fileName: string; moduleIds: string[]; imports: string[]; viteMetadata?: { importedCss: Set<string> } }

export function ahead(): Plugin {
  return {
    name: 'ahead',
    apply: 'build',
    transformIndexHtml: {
      order: 'post',
      handler(html, { bundle = {} }) {
        const chunks = Object.values(bundle).filter(each => each.type === 'chunk') as Chunk[]
        const entries = Object.entries(firstPages).map(([path, modules]) => [
          path,
          [...(firstReads[path] ?? []), ...filesOf(chunks, modules, html)],
        ])
        return html.replace(
          'src="/app/first-paint.js"',
          `$& data-ahead='${JSON.stringify(Object.fromEntries(entries))}'`,
        )
      },
    },
  }
}

/** Returns the files that these modules need, without those that the page names already. */
function filesOf(chunks: Chunk[], modules: string[], html: string): string[] {
  const files = new Set<string>()
  const add = (chunk: Chunk | undefined) => {
    if (!chunk || files.has(chunk.fileName) || html.includes(chunk.fileName)) return
    files.add(chunk.fileName)
    for (const name of chunk.viteMetadata?.importedCss ?? []) files.add(name)
    for (const name of chunk.imports) add(chunks.find(({ fileName }) => fileName === name))
  }
  for (const module of modules) {
    const chunk = chunks.find(({ moduleIds }) => moduleIds.some(id => id.endsWith(`/${module}`)))
    if (!chunk) throw new Error(`No file of the build holds ${module}`)
    add(chunk)
  }
  return [...files].map(file => `/app/${file}`)
}
