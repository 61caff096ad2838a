/** How the portal is built: from `src/` into `dist/`, which the platform serves below `/app/`. */
import react from '@vitejs/plugin-react'
import { defineConfig, type UserConfig } from 'vite'
import { afterFirstPaint } from './build/after-first-paint.ts'
import { ahead } from './build/ahead.ts'
import { compressAssets } from './build/compress.ts'
import { firstScreen } from './build/first-screen.ts'
import { removeLeftovers } from './build/leftovers.ts'

/** What the portal asks of the platform; in development it is passed on to one that runs already. */
const apis = ['/portal', '/cashbacks', '/retailers', '/esim', '/admin', '/partner', '/sandbox']

export default defineConfig((): UserConfig => {
  const platform = process.env.PERKLINE_URL ?? 'http://127.0.0.1:8080'
  return {
    base: '/app/',
    plugins: [react(), firstScreen(), afterFirstPaint(), ahead(), removeLeftovers(), compressAssets()],
    // The platform puts a nonce of its own into each answer here (src/web/page.ts), and names it in the Content-Security-Policy.
    html: { cspNonce: '__CSP_NONCE__' },
    build: {
      // Below these, colours for light and dark (`light-dark()`) are not known.
      target: ['chrome123', 'firefox121', 'safari17.5'],
      reportCompressedSize: false,
      // The Content-Security-Policy takes no data: addresses in scripts and styles.
      assetsInlineLimit: 0,
      modulePreload: { polyfill: false },
      rolldownOptions: {
        output: {
          // Few files: each small one of its own costs a way to the platform. Libraries change seldom, and stay in browsers' caches.
          codeSplitting: {
            groups: [
              {
                name: 'react',
                test: /node_modules\/(?:react|react-dom|scheduler|@tanstack)\//,
                tags: ['$initial'],
                priority: 5,
              },
              // Each file of the first ones runs in a task of its own: together they would keep the browser from answering for long.
              { name: 'look', test: /node_modules/, tags: ['$initial'], priority: 4 },
              { name: 'first', tags: ['$initial'], priority: 3 },
              { name: 'shared', minShareCount: 16, priority: 2 },
              // The login needs these two, and not the frame.
              { name: 'head', test: /src\/app\/(?:logo|header-switches)\./, priority: 1 },
              // What everybody loads who is logged in: the layout, and what the first pages of two areas are made of.
              {
                name: 'frame',
                test: /src\/(?:app\/layout|campaigns\/(?:home-overview|task-card|count-tiles|campaigns-list))\./,
              },
            ],
          },
        },
      },
    },
    server: { port: 5173, proxy: Object.fromEntries(apis.map(path => [path, platform])) },
  }
})
