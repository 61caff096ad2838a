/** How the program ends after an error: with a sentence on the standard error, and with an exit code. */
import type { Command } from 'commander'
import { CommanderError } from 'commander'
import { processEnvironment } from '../config.ts'
import { CommandError, describeError } from './failure.ts'

/**
 * Ends the program when nobody reads its output any more, and after errors that nothing catches. The command `serve`
 * goes on without a reader, and logs uncaught errors itself, in more detail than one sentence.
 */
export function endAfterErrors(program: Command): void {
  let serves = false
  program.hook('preAction', (_, command) => {
    serves = command.name() === 'serve'
    if (!serves) process.on('uncaughtException', end)
  })
  process.stdout.on('error', async (error: NodeJS.ErrnoException) => {
    // The platform continues even when nobody reads its output, or when the disk is full.
    if (serves) return
    if (error.code === 'EPIPE') return end(new CommandError('Whoever reads the output went away before its end.'))
    const { message } = (await import('./files.ts')).writeError('The output', error)
    // A command prints its result after its work is done. Running it again would do the work twice, so the message says
    // that it is done.
    end(new CommandError(`${message} The command itself is done.`))
  })
}

/** Ends the program after an error, and prints the error unless commander has printed it. */
export function end(error: unknown): void {
  if (error instanceof CommanderError) {
    process.exitCode = error.exitCode === 0 ? 0 : 2
    return
  }
  process.stderr.write(`${describeError(error, processEnvironment().LOG_LEVEL)}\n`, () =>
    process.exit(error instanceof CommandError ? error.exitCode : 1),
  )
}
