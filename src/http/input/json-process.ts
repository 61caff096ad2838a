/** The process of `readJsonAside`. */
import { DomainError } from '../../errors.ts'
import { takeJobs } from '../../work/aside-process.ts'
import { countValues, readJson } from './json.ts'
import { type AsideReader, type JsonJob, type JsonPiece, neededFields, splitValue } from './json-pieces.ts'
import { findErrors } from './validation.ts'

/**
 * The parsed schemas by their JSON text. AJV caches a validator by its schema object, so using the same object again
 * avoids compiling it again.
 */
const schemas = new Map<string, object>()

function schemaOf(text: string): object {
  const schema = schemas.get(text) ?? JSON.parse(text)
  schemas.set(text, schema)
  return schema
}

async function read({ bounds, schemaText, reader }: JsonJob, bytes: Uint8Array): Promise<JsonPiece[]> {
  const schema = schemaOf(schemaText)
  try {
    countValues(bytes, bounds)
    const value = readJson(bytes, bounds)
    const errors = findErrors(schema, value)
    const fields = neededFields(value, schema, errors)
    const { readAside }: { readAside: AsideReader } = reader ? await import(reader) : { readAside: asItIs }
    const { body, lists } = readAside(fields)
    return [...splitValue(body, errors), ...lists]
  } catch (error) {
    if (error instanceof DomainError) return [{ refusedFor: error.rules.length > 0 ? error.rules : error.details }]
    throw error
  }
}

const asItIs: AsideReader = body => ({ body, lists: [] })

await takeJobs(read)
