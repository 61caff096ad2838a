/** Settings for tests of the code that reads settings. */
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { TestContext } from 'node:test'

export const masterKey = Buffer.alloc(32, 7).toString('base64')
export const otherKey = Buffer.alloc(32, 8).toString('base64')
export const operatorKey = 'o'.repeat(32)

/** A new folder, removed after the test. */
export async function folder(t: TestContext): Promise<string> {
  const path = await mkdtemp(join(tmpdir(), 'perkline-config-'))
  t.after(() => rm(path, { recursive: true, force: true }))
  return path
}
