/** Error messages for failed connections to the platform. `shown` is the platform's address without its password. */

import { version } from '../version.ts'
import { CommandError } from './failure.ts'
import { plain } from './output.ts'

/** The error message when the platform accepted the connection but sent nothing within the time limit. */
export const tooSlow = () =>
  new CommandError('The platform took the request, but did not answer in time. Please check its log.')

/** The error message when the answer does not come from the admin interface of Perkline. */
export const notPerkline = () => new CommandError('The answer did not come from Perkline: please check PERKLINE_URL.')

/**
 * Returns the error for an error answer of the platform, with each of its messages on its own line.
 *
 * @param text the answer's body
 * @param heading the line before the messages
 * @param otherwise the message when the body is not an error of the platform
 */
export function refused(text: string, heading: string | undefined, otherwise: string): CommandError {
  const messages = messagesIn(text)
  if (!messages) return new CommandError(`${otherwise}: please check PERKLINE_URL.`)
  const [first = '', ...others] = messages.map(plain)
  if (others.length === 0) return new CommandError(heading ? `${heading}: ${first}` : first)
  return new CommandError(
    `${heading ?? 'The platform refused this'}:\n${[first, ...others].map(message => `  - ${message}`).join('\n')}`,
  )
}

function messagesIn(text: string): string[] | null {
  try {
    const { message } = JSON.parse(text)
    const messages = [message].flat()
    return messages.length > 0 && messages.every(entry => typeof entry === 'string') ? messages : null
  } catch {
    return null
  }
}

/** The error message for the status 401. */
export const wrongKey = (shown: string) =>
  new CommandError(
    `The platform at ${shown} did not accept the operator’s key: OPERATOR_KEY is wrong. ` +
      'With the embedded database the key is in DATA_DIR/operator.key.',
  )

/** The platform's message for a path that no service has (`http/unknown.ts`). */
const noSuchPath = 'There is nothing at this path'

/** Whether a 404 is about the path itself, and not about an object that it names. */
export const isUnknownPath = (text: string): boolean => messagesIn(text)?.[0] === noSuchPath

/** Whether a 400 only says that the platform does not know parameters of the query. The commands make queries themselves. */
export const isUnknownParameter = (text: string): boolean =>
  messagesIn(text)?.every(message => message.endsWith(' must be omitted')) ?? false

/** The error message when the platform does not know this version's parameters. */
export const otherVersion = (shown: string) =>
  new CommandError(
    `The platform at ${shown} is of another version than this program, which is ${version}. ` +
      'Run this command with the program of the version that serves there.',
  )

/** The error message when the admin interface itself was not found. */
export const noAdmin = (shown: string) =>
  new CommandError(
    `The platform at ${shown} has no admin interface there. Check PERKLINE_URL: with ADMIN_PORT the admin interface is at that ` +
      'port only, and a process that was started with --only and without admin has none.',
  )

const reasons: Record<string, string> = {
  ECONNREFUSED: 'nothing listens there',
  ENOTFOUND: 'there is no such host',
  EAI_AGAIN: 'its name can’t be looked up now',
  ETIMEDOUT: 'it does not answer',
  EHOSTUNREACH: 'there is no way to it',
  ENETUNREACH: 'there is no way to it',
  ECONNRESET: 'the connection broke',
  EPIPE: 'the connection broke',
  EPROTO: 'it does not speak https',
  HPE_INVALID_CONSTANT: 'it does not speak http',
}

/** Errors of a connection that broke, perhaps after the platform had received the request. */
const broken = new Set(['ECONNRESET', 'EPIPE'])

/**
 * Makes the error for a platform that did not answer at all.
 *
 * @param error the error of the socket
 * @param changes whether the request would change something
 */
export function unreachable(error: unknown, shown: string, changes: boolean): CommandError {
  const { code = '', message } = error as NodeJS.ErrnoException
  const reason = reasons[code] ?? (plain(message.split('\n', 1)[0] ?? '') || code)
  const mayBeDone = changes && broken.has(code)
  return new CommandError(
    `Can’t reach the platform at ${shown}: ${reason}. ` +
      'If it runs elsewhere, give its address: PERKLINE_URL=http://HOST:PORT perkline ...' +
      (mayBeDone ? '\nIt may be done all the same: check that before you repeat it.' : ''),
  )
}
