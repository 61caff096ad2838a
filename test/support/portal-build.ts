/** Builds the portal when one of its sources is newer than the last build. */
import { spawnSync } from 'node:child_process'
import { readdirSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

const folder = fileURLToPath(new URL('../../portal/', import.meta.url))
const sources = ['src', 'public', 'build', 'index.html', 'vite.config.ts', 'package.json']

let isBuilt = false

/** @throws Error with the output of a failed build */
export function buildPortal(): void {
  if (isBuilt) return
  if (Math.max(...sources.map(youngest)) > youngest('dist/index.html')) {
    const vite = join(folder, '../node_modules/vite/bin/vite.js')
    const { status, stdout, stderr } = spawnSync(process.execPath, [vite, 'build'], { cwd: folder, encoding: 'utf8' })
    if (status !== 0) throw new Error(`The portal cannot be built:\n${stdout}${stderr}`)
  }
  isBuilt = true
}

/** When a file, or any file in a folder, was last written; 0 when it does not exist. */
function youngest(name: string): number {
  const found = statSync(join(folder, name), { throwIfNoEntry: false })
  if (!found?.isDirectory()) return found?.mtimeMs ?? 0
  const inside = readdirSync(join(folder, name)).filter(entry => entry !== 'schema')
  return Math.max(0, ...inside.map(entry => youngest(join(name, entry))))
}
