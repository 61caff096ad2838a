/** The errors of a directory file with its terminals files. A file may have millions, so only the first are kept. */
import type { BrokenRule } from '../../error-rules.ts'
import type { Problem } from '../../errors.ts'

/** The maximum number of errors that are kept; further ones are only counted. */
export const maxErrors = 10_000
const maxProblems = 20

export type FoundErrors = {
  /** The first errors, at most `maxErrors`. */
  errors: (string | BrokenRule)[]
  errorCount: number
  /** The first errors inside terminals files, at most 20, in a form for programs. Each of them is also in `errors`. */
  problems: Problem[]
  problemCount: number
}

export const noErrors = (): FoundErrors => ({ errors: [], errorCount: 0, problems: [], problemCount: 0 })

/** Counts an error, and keeps it if it is one of the first. @param problem of an error inside a terminals file */
export function addError(found: FoundErrors, error: string | BrokenRule, problem?: Problem): void {
  found.errorCount++
  if (found.errors.length < maxErrors) found.errors.push(error)
  if (problem === undefined) return
  found.problemCount++
  if (found.problems.length < maxProblems) found.problems.push(problem)
}
