/**
 * Writes the types of the platform's operations from the committed OpenAPI documents into `src/api/schema/`, which git
 * ignores.
 */
import { mkdir, readdir, writeFile } from 'node:fs/promises'
import openapiTS, { astToString } from 'openapi-typescript'

const documents = new URL('../../docs/openapi/', import.meta.url)
const folder = new URL('../src/api/schema/', import.meta.url)

await mkdir(folder, { recursive: true })
for (const file of await readdir(documents)) {
  const types = await openapiTS(new URL(file, documents), { alphabetize: true })
  await writeFile(new URL(file.replace(/\.json$/, '.ts'), folder), astToString(types))
}
