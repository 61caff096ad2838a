/** How the portal is built: from `src/` into `dist/`, which the platform serves below `/app/`. */
import react from '@vitejs/plugin-react'
import { defineConfig, type UserConfig } from 'vite'
import { afterFirstPaint } from './build/after-first-paint.ts'
import { ahead } from './build/ahead.ts'
import { compressAssets } from './build/compress.ts'
import { firstScreen } from './build/first-screen.ts'
import { removeLeftovers } from './build/leftovers.ts'

/**
 * The paths of the platform's APIs. In development, requests to them are passed on to a platform that is already
 * running.
 */
const apis = ['/portal', '/cashbacks', '/retailers', '/esim', '/admin', '/partner', '/sandbox']

export default defineConfig((): UserConfig => {
  const platform = process.env.PERKLINE_URL ?? 'http://127.0.0.1:8080'
  return {
    base: '/app/',
    plugins: [react(), firstScreen(), afterFirstPaint(), ahead(), removeLeftovers(), compressAssets()],
    // The platform replaces this text by a new nonce in each answer (src/web/page.ts), and names the nonce in the
    // Content-Security-Policy.
    html: { cspNonce: '__CSP_NONCE__' },
    build: {
      // Older browsers do not support `light-dark()`, which the colours of the portal use.
      target: ['chrome123', 'firefox121', 'safari17.5'],
      reportCompressedSize: false,
      // The Content-Security-Policy forbids data: addresses in scripts and styles.
      assetsInlineLimit: 0,
      modulePreload: { polyfill: false },
      rolldownOptions: {
        output: {
          // Few files, because each one costs a request. Libraries change seldom, so in files of their own they stay in
          // the browser's cache.
          codeSplitting: {
            groups: [
              {
                name: 'react',
                test: /node_modules\/(?:react|react-dom|scheduler|@tanstack)\//,
                tags: ['$initial'],
                priority: 5,
              },
              // These files are separate, because each runs in a task of its own. As one file, they would block the
              // page for too long.
              { name: 'look', test: /node_modules/, tags: ['$initial'], priority: 4 },
              { name: 'first', tags: ['$initial'], priority: 3 },
              { name: 'shared', minShareCount: 16, priority: 2 },
              // The login page needs these two modules, but not the layout.
              { name: 'head', test: /src\/app\/(?:logo|header-switches)\./, priority: 1 },
              // What every logged-in person needs: the layout, and the shared parts of the first pages of merchants and
              // banks.
              {
                name: 'frame',
                test: /src\/(?:app\/layout|campaigns\/(?:home\/(?:overview|task-card)|list\/(?:count-tiles|campaigns-list)))\./,
              },
            ],
          },
        },
      },
    },
    server: { port: 5173, proxy: Object.fromEntries(apis.map(path => [path, platform])) },
  }
})
