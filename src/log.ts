/**
 * Logs JSON lines to stdout, or formatted lines on a terminal. Each logged field is chosen explicitly: no headers,
 * bodies, queries or raw paths, so no secret can get in. Errors are reduced to fields that cannot contain a value.
 */
import { type DestinationStream, type Logger, pino } from 'pino'
import { openLogOutput } from './log-output.ts'

export type { Logger }

/** A database error's `detail` and `where` contain values of rows, so they are left out. */
function errorFields(error: unknown): object {
  if (!(error instanceof Error)) return { type: typeof error }
  const { code, constraint, table } = error as { code?: string; constraint?: string; table?: string }
  const cause = error.cause === undefined ? {} : { cause: errorFields(error.cause) }
  return { type: error.name, ...words(error, code), code, constraint, table, ...cause }
}

/**
 * Leaves out messages that quote input. A data exception of the database quotes a value, and an error of a parser
 * quotes the text that it could not read.
 */
function words(error: Error, code: string | undefined): { message: string; stack: string | undefined } {
  const quotes = /^22[0-9A-Z]{3}$/.test(code ?? '') || error instanceof SyntaxError
  if (!quotes) return { message: error.message, stack: error.stack }
  const places = error.stack?.split('\n').filter(line => /^ +at /.test(line))
  return { message: 'withheld: it may quote a value', stack: places?.join('\n') }
}

/**
 * @param stream where to write, for example a formatter for terminals; default: stdout
 * @param instance the name of this process, in each line
 */
export function createLogger(level: string, stream?: DestinationStream, instance?: string): Logger {
  const options = {
    level,
    base: { pid: process.pid, ...(instance !== undefined && { instance }) },
    timestamp: pino.stdTimeFunctions.isoTime,
    formatters: { level: (label: string) => ({ level: label }) },
    serializers: { err: errorFields },
  }
  return pino(options, stream ?? openLogOutput())
}

/**
 * The fields that the formatter does not print by itself, because `terminalMessage` writes them or a terminal needs
 * none of them.
 */
const requestFields = 'method,route,statusCode,ms,caller,identity,subject,requestId'

/**
 * Formats the log for a terminal: one line for each event, short lines for requests. The formatter is loaded only
 * when needed. @param destination default: stdout
 */
export async function terminalStream(destination?: DestinationStream): Promise<DestinationStream> {
  const { default: pretty } = await import('pino-pretty')
  return pretty({
    ignore: `pid,instance,${requestFields}`,
    translateTime: 'HH:MM:ss',
    singleLine: true,
    sync: true,
    messageFormat: terminalMessage,
    ...(destination && { destination, colorize: false }),
  })
}

function terminalMessage({ msg, method, route, statusCode, ms, caller, requestId }: Record<string, unknown>): string {
  if (msg === 'request') return [method, route, statusCode, `${ms} ms`, caller].filter(Boolean).join(' ')
  return requestId === undefined ? String(msg) : `${msg} (request ${requestId})`
}

type Write = Parameters<Logger['info']>

/** The log of one request. The logger is created only when there is something to log, which is seldom. */
export class RequestLog {
  readonly #base: Logger
  readonly #bindings: Record<string, unknown>
  #own: Logger | null = null

  constructor(base: Logger, bindings: Record<string, unknown>) {
    this.#base = base
    this.#bindings = bindings
  }

  get level(): string {
    return this.#base.level
  }
  child(bindings: Record<string, unknown>): Logger {
    return this.#logger().child(bindings)
  }
  trace(...line: Write): void {
    this.#logger().trace(...line)
  }
  debug(...line: Write): void {
    this.#logger().debug(...line)
  }
  info(...line: Write): void {
    this.#logger().info(...line)
  }
  warn(...line: Write): void {
    this.#logger().warn(...line)
  }
  error(...line: Write): void {
    this.#logger().error(...line)
  }
  fatal(...line: Write): void {
    this.#logger().fatal(...line)
  }
  silent(): void {}

  #logger(): Logger {
    this.#own ??= this.#base.child(this.#bindings)
    return this.#own
  }
}
