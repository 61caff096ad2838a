/** How a command ends when it does not end well (contract/operations.md, "The command line"). */

/**
 * Exit code 1: the platform refused, or something is broken. 2: the command was called wrongly. 3: `migrate --check` found that the
 * previous version could not go on serving.
 */
export class CommandError extends Error {
  readonly exitCode: 1 | 2 | 3

  constructor(message: string, exitCode: 1 | 2 | 3 = 1) {
    super(message)
    this.name = 'CommandError'
    this.exitCode = exitCode
  }
}

/** @param message says how to call it instead */
export const usageFault = (message: string): CommandError => new CommandError(message, 2)

/** One sentence for any error; the stack only where the operator asked for it with LOG_LEVEL=debug. */
export function describeError(error: unknown, logLevel: string | undefined): string {
  if (!(error instanceof Error)) return `Something went wrong: ${String(error)}`
  if ((logLevel === 'debug' || logLevel === 'trace') && !(error instanceof CommandError) && error.stack)
    return error.stack
  // An error of several attempts has no message of its own.
  return error.message || (error as NodeJS.ErrnoException).code || error.name
}
