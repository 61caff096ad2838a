/**
 * What each process of `npm test` runs: the test files of its arguments, one after the other. Loading the platform takes as long as a
 * short file's tests, so files share a process. Each file is a test of its own, so its hooks apply to nothing else.
 */
import { resolve } from 'node:path'
import process from 'node:process'
import { test } from 'node:test'
import { pathToFileURL } from 'node:url'

/** The longest that a file, and each of its tests, may take on a slow machine. */
const timeout = 600_000

for (const file of process.argv.slice(2))
  test(file, { timeout }, async () => {
    await import(pathToFileURL(resolve(file)).href)
  })
