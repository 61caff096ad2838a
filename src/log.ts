/**
 * JSON lines on stdout, pretty on a terminal. What is logged is chosen field by field: no headers, bodies, queries or raw paths,
 * so a secret has no way in; an error is reduced to what cannot carry a value.
 */
import { type Logger, pino } from 'pino'
import pretty from 'pino-pretty'

export type { Logger }

/** A database error's `detail` and `where` hold values of rows, so they stay out. */
function errorFields(error: unknown): object {
  if (!(error instanceof Error)) return { type: typeof error }
  const { code, constraint, table } = error as { code?: string; constraint?: string; table?: string }
  const cause = error.cause === undefined ? {} : { cause: errorFields(error.cause) }
  return { type: error.name, message: error.message, stack: error.stack, code, constraint, table, ...cause }
}

/** @param onTerminal whether people read it */
export function createLogger(level: string, onTerminal: boolean): Logger {
  const options = {
    level,
    base: { pid: process.pid },
    timestamp: pino.stdTimeFunctions.isoTime,
    formatters: { level: (label: string) => ({ level: label }) },
    serializers: { err: errorFields },
  }
  if (onTerminal) return pino(options, pretty({ ignore: 'pid', translateTime: 'HH:MM:ss', sync: true }))
  return pino(options)
}
