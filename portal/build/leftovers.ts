/**
 * Keeps the files of earlier builds for a day, because a page that is open during an upgrade still loads files of its
 * own version. Each build writes all its files again, so a file that is older than a day does not belong to a build of
 * the last day, and is removed.
 */
import { readdir, rm, stat } from 'node:fs/promises'
import { join } from 'node:path'
import type { Plugin } from 'vite'

const keptMs = 24 * 60 * 60 * 1000

export function removeLeftovers(): Plugin {
  let folder = ''
  return {
    name: 'remove-leftovers',
    apply: 'build',
    config: () => ({ build: { emptyOutDir: false } }),
    configResolved(config) {
      folder = join(config.root, config.build.outDir, config.build.assetsDir)
    },
    async closeBundle() {
      const paths = (await readdir(folder).catch(() => [])).map(name => join(folder, name))
      const isOld = async (path: string) => (await stat(path)).mtimeMs < Date.now() - keptMs
      for (const path of paths) if (await isOld(path).catch(() => false)) await rm(path, { force: true })
    },
  }
}
