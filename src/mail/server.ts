/** Reads the address of the mail server from its setting. */
import { parseConnectionUrl } from 'nodemailer/lib/shared'
import type SMTPConnection from 'nodemailer/lib/smtp-connection'

/** The host, port, login and options of a mail server, as read from an SMTP URL. */
export type MailServer = {
  host: string
  port: number
  credentials: { user: string; pass: string } | undefined
  /** The SASL mechanism to use; false: choose one that the server offers. */
  authMethod: string | false
  /** Log in even when the server does not offer a login. */
  forceAuth: boolean
  options: SMTPConnection.Options
}

/**
 * Options of nodemailer that an SMTP URL must not contain. They do not work here, or they change the meaning of a reply
 * of the mail server.
 */
const refusedOptions = ['lmtp', 'proxy', 'service', 'customAuth', 'secured', 'socket', 'connection']

/**
 * Reads an SMTP URL. `smtp://` uses STARTTLS if the server offers it; `smtps://` uses TLS from the start. The URL may
 * have `user:password@`, and options of nodemailer as its query, such as
 * `?requireTLS=true&tls.rejectUnauthorized=false`.
 * @throws Error when the URL names no server or has an option that does not work here. Its text never contains the URL
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
    // nodemailer's own log would contain addresses and, with `debug`, the whole conversation.
    options: { ...options, host, logger: false, debug: false, transactionLog: false },
  }
}

function parseUrl(smtpUrl: string) {
  if (!/^smtps?:\/\//i.test(smtpUrl)) throw new Error('SMTP_URL must begin with smtp:// or smtps://')
  try {
    // Parse the URL strictly first. nodemailer alone would accept a broken URL, and the error would appear only at the first e-mail.
    return parseConnectionUrl(new URL(smtpUrl).href)
  } catch {
    // The original error contains the whole URL with its password.
    throw new Error('SMTP_URL is not a URL')
  }
}
