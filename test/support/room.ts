/**
 * The program that each process of `npm test` runs. It runs the test files that its arguments name, one after the other. Several files
 * share a process, because loading the platform takes as long as the tests of a short file. Each file becomes a test that contains its
 * tests, so its hooks (`before`, `after`) apply to that file alone.
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
