/**
 * Logs JSON lines to stdout, or formatted lines on a terminal. Each logged field is chosen explicitly: no headers,
 * bodies, queries or raw paths, so no secret can get in. Errors are reduced to fields that cannot contain a value.
 */
import { type DestinationStream, type Logger, pino } from 'pino'
import { openLogOutput } from './log-output.ts'

export type { Logger }

/** Of an error that stands for several, this many are logged. */
const maxErrors = 10

/**
 * A database error's `detail` and `where` contain values of rows, so they are left out. The error 'unavailable' and its
 * cause are logged without their stacks. These stacks do not show the reason, and they would be long: every request
 * logs this error while the database is away.
 */
function errorFields(error: unknown, hasStack = true): object {
  if (!(error instanceof Error)) return { type: typeof error }
  const { code, constraint, table } = error as { code?: string; constraint?: string; table?: string }
  const isAway = error instanceof AggregateError && error.errors.every(one => one?.code === 'unavailable')
  const keepsStack = hasStack && code !== 'unavailable' && !isAway
  const ofSeveral =
    error instanceof AggregateError
      ? { errors: error.errors.slice(0, maxErrors).map(one => errorFields(one, keepsStack)) }
      : {}
  const stack = keepsStack ? { stack: stackOf(error) } : {}
  const cause = error.cause === undefined ? {} : { cause: errorFields(error.cause, keepsStack) }
  return { type: error.name, message: messageOf(error), ...stack, code, constraint, table, ...cause, ...ofSeveral }
}

/** Whether the error's message may contain input. Data exceptions of the database and errors of parsers do. */
const quotesInput = (error: Error): boolean =>
  /^22[0-9A-Z]{3}$/.test((error as { code?: string }).code ?? '') || error instanceof SyntaxError

const messageOf = (error: Error): string => (quotesInput(error) ? 'withheld: it may quote a value' : error.message)

/**
 * Returns the stack. It begins with the message. So if the message is withheld, only the lines with code locations are
 * kept.
 */
function stackOf(error: Error): string | undefined {
  if (!quotesInput(error)) return error.stack
  const places = error.stack?.split('\n').filter(line => /^ +at /.test(line))
  return places?.join('\n')
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
    serializers: { err: (error: unknown) => errorFields(error) },
  }
  return pino(options, stream ?? openLogOutput())
}

/**
 * Request fields that the formatter must not print. `terminalMessage` prints some of them; the others are not needed on
 * a terminal.
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
