/** Collects the refused lines of a stock file. */
import { DomainError } from '../../errors.ts'
import { type StockError, stockErrors } from './file.ts'

/** `rule` is the code of the reason, for programs. */
export type Reject = { lineNumber: number; column: string; rule: string; reason: string }

/**
 * The refused lines of a file. Each takes only a few bytes, because there may be millions. `add` throws DomainError
 * 'invalid' when so many lines are refused that the file cannot be a stock file.
 */
export type Rejects = Iterable<Reject> & { readonly count: number; add(lineNumber: number, error: StockError): void }

/** Merges two lists in the order of the file. */
export function* mergeRejects(one: Rejects, other: Rejects): Generator<Reject> {
  const others = other[Symbol.iterator]()
  let next = others.next()
  for (const reject of one) {
    for (; !next.done && next.value.lineNumber < reject.lineNumber; next = others.next()) yield next.value
    yield reject
  }
  for (; !next.done; next = others.next()) yield next.value
}

const linesOfAPart = 65_536
const maxRejects = 10_000_000

export function createRejects(): Rejects {
  type Part = { lineNumbers: Uint32Array; errors: Uint8Array }
  const parts: Part[] = []
  let count = 0
  return {
    get count() {
      return count
    },
    add(lineNumber, error) {
      if (count === maxRejects) throw new DomainError('invalid', `more than ${maxRejects} lines are faulty`)
      const place = count % linesOfAPart
      if (place === 0) parts.push({ lineNumbers: new Uint32Array(linesOfAPart), errors: new Uint8Array(linesOfAPart) })
      const part = parts.at(-1)
      if (part) {
        part.lineNumbers[place] = lineNumber
        part.errors[place] = stockErrors.indexOf(error)
      }
      count++
    },
    *[Symbol.iterator]() {
      for (let index = 0; index < count; index++) {
        const part = parts[Math.floor(index / linesOfAPart)]
        const error = stockErrors[part?.errors[index % linesOfAPart] ?? 0]
        const lineNumber = part?.lineNumbers[index % linesOfAPart] ?? 0
        yield { lineNumber, column: error?.column ?? '', rule: error?.rule ?? '', reason: error?.text ?? '' }
      }
    },
  }
}
