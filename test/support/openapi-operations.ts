/** The stored OpenAPI documents and all their operations. */
import { readFileSync } from 'node:fs'
import { documents, snapshotUrl } from './openapi.ts'

export const texts = new Map(documents.map(({ file }) => [file, readFileSync(snapshotUrl(file), 'utf8')]))
export const parsed = [...texts].map(([file, text]) => ({ file, document: JSON.parse(text) }))

export type Operation = { file: string; path: string; method: string; operation: any }
export const operations: Operation[] = parsed.flatMap(({ file, document }) =>
  Object.entries<any>(document.paths).flatMap(([path, methods]) =>
    Object.entries<any>(methods).map(([method, operation]) => ({
      file,
      path,
      method: method.toUpperCase(),
      operation,
    })),
  ),
)

/** What to do when an operation has no example. */
export const advice = 'add a step to test/support/example-walk.ts and run `npm run examples`, then `npm run openapi`'
