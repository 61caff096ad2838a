/** Collects the refused lines of a stock file. */
import { DomainError } from '../../errors.ts'
import { type StockFault, stockFaults } from './file.ts'

/** `rule` is the code of the reason, for programs. */
export type Reject = { lineNumber: number; column: string; rule: string; reason: string }

/** The refused lines of a file, in a few bytes each, because there may be millions. */
export type Rejects = Iterable<Reject> & { readonly count: number; add(lineNumber: number, fault: StockFault): void }

const linesOfAPart = 65_536
const mostRejects = 10_000_000

/** `add` throws DomainError 'invalid' when so many lines are refused that the file cannot be a stock file. */
export function createRejects(): Rejects {
  type Part = { lineNumbers: Uint32Array; faults: Uint8Array }
  const parts: Part[] = []
  let count = 0
  return {
    get count() {
      return count
    },
    add(lineNumber, fault) {
      if (count === mostRejects) throw new DomainError('invalid', `more than ${mostRejects} lines are faulty`)
      const place = count % linesOfAPart
      if (place === 0) parts.push({ lineNumbers: new Uint32Array(linesOfAPart), faults: new Uint8Array(linesOfAPart) })
      const part = parts.at(-1)
      if (part) {
        part.lineNumbers[place] = lineNumber
        part.faults[place] = stockFaults.indexOf(fault)
      }
      count++
    },
    *[Symbol.iterator]() {
      for (let index = 0; index < count; index++) {
        const part = parts[Math.floor(index / linesOfAPart)]
        const fault = stockFaults[part?.faults[index % linesOfAPart] ?? 0]
        const lineNumber = part?.lineNumbers[index % linesOfAPart] ?? 0
        yield { lineNumber, column: fault?.column ?? '', rule: fault?.rule ?? '', reason: fault?.text ?? '' }
      }
    },
  }
}
