import { accessSync, constants } from 'node:fs'
import { delimiter, join } from 'node:path'
import process from 'node:process'
import type { TestContext } from 'node:test'

/**
 * Returns whether one of these programs is installed. If none is, this skips the test with a message, or fails it if
 * REQUIRE_ALL_TESTS is set.
 *
 * @returns false when the test must end here
 */
export function requireProgram(t: TestContext, ...names: string[]): boolean {
  if (pathOf(names) !== undefined) return true
  const reason = `${names.join(' or ')} is not installed`
  if (process.env.REQUIRE_ALL_TESTS) throw new Error(`${reason}, and REQUIRE_ALL_TESTS is set`)
  t.skip(reason)
  return false
}

/** @returns the path of the first of these programs that is installed */
export function pathOf(names: readonly string[]): string | undefined {
  const folders = (process.env.PATH ?? '').split(delimiter).filter(folder => folder !== '')
  return names.flatMap(name => folders.map(folder => join(folder, name))).find(isProgram)
}

function isProgram(path: string): boolean {
  try {
    accessSync(path, constants.X_OK)
    return true
  } catch {
    return false
  }
}
