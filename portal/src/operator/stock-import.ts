/** Reads the platform's answer to an import of a stock file. */
import { ApiError } from '../api/errors.ts'

export type Reject = { lineNumber: number; column: string; rule: string; reason: string }
/** A line whose ICCID is already in stock, or is on an earlier line of the file. */
type DuplicateLine = { lineNumber: number; otherActivationCode: boolean }
type Result = { imported: number; duplicates: number; duplicateLines?: DuplicateLine[]; rejected: number }
/** `rejects` contains only the first rejected lines; `rejected` counts all. */
export type Imported = Result & { rejects: Reject[] }

/** The maximum number of rejected lines to keep, because a file may have millions of them. */
const maxRejects = 100_000

/** The answer has one line for each invalid line of the file, and then the result. */
export function readImport(text: string): Imported {
  const rejects: Reject[] = []
  let result: Result = { imported: 0, duplicates: 0, rejected: 0 }
  for (const lineText of text.split('\n').filter(Boolean)) {
    const line = JSON.parse(lineText) as { reject?: Reject; result?: Result }
    if (line.reject && rejects.length < maxRejects) rejects.push(line.reject)
    if (line.result) result = line.result
  }
  return { ...result, rejects }
}

/**
 * The invalid lines that made an import fail; null if it failed for another reason.
 *
 * @param rules the rules for lines, by their codes
 */
export function refusedLines(error: unknown, rules: Readonly<Record<string, string>>): Imported | null {
  if (!(error instanceof ApiError)) return null
  const rejects = error.problems.flatMap(({ line, column, rule }) =>
    line !== null && rule in rules ? [{ lineNumber: line, column: column ?? 'line', rule, reason: rule }] : [],
  )
  if (rejects.length === 0 || rejects.length < error.problems.length) return null
  return { imported: 0, duplicates: 0, rejected: error.problemCount, rejects }
}
