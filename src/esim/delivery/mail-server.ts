import { parseConnectionUrl } from 'nodemailer/lib/shared'
import type SMTPConnection from 'nodemailer/lib/smtp-connection'

/** The mail server that an SMTP URL names, and how to speak to it. */
export type MailServer = {
  host: string
  port: number
  credentials: { user: string; pass: string } | undefined
  /** The SASL mechanism to use; false leaves the choice to what the server offers. */
  authMethod: string | false
  /** Logs in even when the server does not offer it. */
  forceAuth: boolean
  options: SMTPConnection.Options
}

/** What nodemailer would take from a URL, but what would not work here or would change what a reply means. */
const refusedOptions = ['lmtp', 'proxy', 'service', 'customAuth', 'secured', 'socket', 'connection']

/**
 * Reads `smtp://` (STARTTLS where the server offers it) or `smtps://` (TLS from the start) with `user:password@` and
 * nodemailer's options in the query, as `?requireTLS=true&tls.rejectUnauthorized=false`. Throws an Error, which never
 * repeats the URL, when it names no server or asks for what does not work here.
 */
export function readSmtpUrl(smtpUrl: string): MailServer {
  const { auth, host, port, ...options } = parseUrl(smtpUrl)
  if (!host) throw new Error('SMTP_URL must be smtp://host or smtps://host')
  if (auth && !(auth.user && auth.pass)) throw new Error('SMTP_URL must carry both a user and a password, or neither')
  for (const option of refusedOptions) {
    if (option in options) throw new Error(`SMTP_URL must not carry the option ${option}`)
  }
  return {
    host,
    port: port ?? (options.secure ? 465 : 587),
    credentials: auth,
    authMethod: typeof options.authMethod === 'string' && options.authMethod,
    forceAuth: options.forceAuth === true,
    // nodemailer's own log carries addresses and, when asked, the whole conversation.
    options: { ...options, host, logger: false, debug: false, transactionLog: false },
  }
}

function parseUrl(smtpUrl: string) {
  if (!/^smtps?:\/\//i.test(smtpUrl)) throw new Error('SMTP_URL must begin with smtp:// or smtps://')
  try {
    // nodemailer alone would fall back to a lenient parser, and find the fault at the first e-mail.
    return parseConnectionUrl(new URL(smtpUrl).href)
  } catch {
    // The error at hand holds the whole URL, password included.
    throw new Error('SMTP_URL is not a URL')
  }
}
