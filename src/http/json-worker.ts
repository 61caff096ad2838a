/** The thread of `readJsonAside`. */
import { workerData } from 'node:worker_threads'
import { DomainError } from '../errors.ts'
import { givePieces } from '../worker-pieces.ts'
import { countValues, readJson } from './json.ts'
import { type JsonPiece, splitValue } from './json-pieces.ts'

function read(): JsonPiece[] {
  const { bytes, bounds } = workerData
  try {
    countValues(bytes, bounds)
    return splitValue(readJson(bytes, bounds))
  } catch (error) {
    if (error instanceof DomainError) return [{ fault: error.details }]
    throw error
  }
}

await givePieces(read())
