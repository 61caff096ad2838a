/** How a command reports a failure (contract/operations.md, "The command line"). */

/**
 * The error of a command. Exit code 1: the platform refused, or something is broken. 2: wrong usage. 3: `migrate
 * --check` found that the previous version could not continue to serve.
 */
export class CommandError extends Error {
  readonly exitCode: 1 | 2 | 3

  constructor(message: string, exitCode: 1 | 2 | 3 = 1) {
    super(message)
    this.name = 'CommandError'
    this.exitCode = exitCode
  }
}

/** Makes the error for wrong usage, with exit code 2. @param message how to call the command instead */
export const usageError = (message: string): CommandError => new CommandError(message, 2)

/** Returns one sentence for any error. With LOG_LEVEL=debug it returns the stack. */
export function describeError(error: unknown, logLevel: string | undefined): string {
  if (!(error instanceof Error)) return `Something went wrong: ${String(error)}`
  if ((logLevel === 'debug' || logLevel === 'trace') && !(error instanceof CommandError) && error.stack)
    return error.stack
  // An AggregateError has no message of its own.
  return error.message || (error as NodeJS.ErrnoException).code || error.name
}
