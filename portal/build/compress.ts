/** Writes `.br` and `.gz` beside each asset and the script of `public/`, so that the platform compresses nothing while it serves. */
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { brotliCompress, constants, gzip } from 'node:zlib'
import type { Plugin } from 'vite'

const compressible = /\.(?:html|js|css|svg)$/
/** A smaller file fits into one packet even without compression. */
const smallestBytes = 512

export function compressAssets(): Plugin {
  return {
    name: 'compress-assets',
    apply: 'build',
    async writeBundle({ dir = '' }, bundle) {
      const names = [...Object.keys(bundle).filter(name => compressible.test(name)), 'first-paint.js']
      await Promise.all(names.map(name => compress(join(dir, name))))
    },
  }
}

async function compress(path: string): Promise<void> {
  const content = await readFile(path)
  if (content.length < smallestBytes) return
  const quality = { params: { [constants.BROTLI_PARAM_SIZE_HINT]: content.length } }
  const [br, gz] = await Promise.all([
    promisify(brotliCompress)(content, quality),
    promisify(gzip)(content, { level: constants.Z_BEST_COMPRESSION }),
  ])
  await Promise.all([writeFile(`${path}.br`, br), writeFile(`${path}.gz`, gz)])
}
