/** The worker thread of `readJsonAside`. */
import { workerData } from 'node:worker_threads'
import { DomainError } from '../../errors.ts'
import { givePieces } from '../../work/worker-pieces.ts'
import { countValues, readJson } from './json.ts'
import { type AsideReader, type JsonPiece, neededFields, splitValue } from './json-pieces.ts'
import { findErrors } from './validation.ts'

async function read(): Promise<{ pieces: JsonPiece[]; memory: ArrayBuffer[] }> {
  const { bytes, bounds, schema, reader } = workerData
  try {
    countValues(bytes, bounds)
    const value = readJson(bytes, bounds)
    const errors = findErrors(schema, value)
    const fields = neededFields(value, schema, errors)
    const { readAside }: { readAside: AsideReader } = reader ? await import(reader) : { readAside: asItIs }
    const { body, memory } = readAside(fields)
    return { pieces: splitValue(body, errors), memory }
  } catch (error) {
    if (error instanceof DomainError)
      return { pieces: [{ refusedFor: error.rules.length > 0 ? error.rules : error.details }], memory: [] }
    throw error
  }
}

const asItIs: AsideReader = body => ({ body, memory: [] })

const { pieces, memory } = await read()
await givePieces(pieces, memory)
