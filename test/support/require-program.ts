import { accessSync, constants } from 'node:fs'
import { delimiter, join } from 'node:path'
import process from 'node:process'
import type { TestContext } from 'node:test'

/**
 * Whether a program of the system is installed. Where it is missing the test is skipped, saying so; with REQUIRE_ALL_TESTS set (as
 * where the whole suite must have run) it fails.
 *
 * @returns false when the test is to end here
 */
export function requireProgram(t: TestContext, name: string): boolean {
  if (isInstalled(name)) return true
  const reason = `${name} is not installed`
  if (process.env.REQUIRE_ALL_TESTS) throw new Error(`${reason}, and REQUIRE_ALL_TESTS is set`)
  t.skip(reason)
  return false
}

function isInstalled(name: string): boolean {
  const folders = (process.env.PATH ?? '').split(delimiter).filter(folder => folder !== '')
  return folders.some(folder => {
    try {
      accessSync(join(folder, name), constants.X_OK)
      return true
    } catch {
      return false
    }
  })
}
