/** Hands one message to a mail server by SMTP. */
import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import SMTPConnection from 'nodemailer/lib/smtp-connection'
import type { MailServer } from './server.ts'

/**
 * The outcome of sending. After `failed`, sending may be tried again. After `unknown` it may not, because the message
 * may have arrived (contract/esim.md, "The e-mail").
 */
export type MailOutcome = 'sent' | 'failed' | 'unknown'

/** The outcome of one attempt, without the address and without text from the mail server. */
export type Delivery = {
  outcome: MailOutcome
  /** The SMTP command that ended the attempt (`RCPT TO`), or `CONN` for the connection itself. */
  command: string
  /** The mail server's reply code, if it sent one. */
  responseCode: number | undefined
  /** The code of the error (`ECONNREFUSED`), if there was one. */
  errorCode: string | undefined
}

type Envelope = { from: string; to: string }
type Failure = {
  name?: string
  command?: string | undefined
  responseCode?: number | undefined
  code?: string | undefined
  originalCode?: string | undefined
}

/** How long a connection may stay open after the last command if the mail server does not close it. */
const closeTimeoutMs = 1_000

/**
 * Hands one message to the mail server and never throws. The outcome is `failed` when no connection was made, or when
 * the server refused with a 4xx or 5xx reply at any step. It is `unknown` for every other failure; the message then
 * counts as sent (contract/esim.md, "The e-mail"). The attempt ends at the deadline at the latest, and its socket is
 * closed at most a second later.
 */
export async function deliver(
  server: MailServer,
  envelope: Envelope,
  message: Buffer,
  deadline: AbortSignal,
): Promise<Delivery> {
  let socket: Socket
  try {
    socket = await openSocket(server, deadline)
  } catch (error) {
    return { ...describe(error as Failure), outcome: 'failed' }
  }
  return converse(socket, server, envelope, message, deadline)
}

/** Opens the connection here instead of in nodemailer, so that we know whether a connection was ever made. */
async function openSocket({ host, port, options: { localAddress } }: MailServer, deadline: AbortSignal) {
  const socket = connect({ host, port, ...(localAddress === undefined ? {} : { localAddress }) })
  // An error that arrives after the attempt has ended must not end the process.
  socket.on('error', () => {})
  try {
    await once(socket, 'connect', { signal: deadline })
    return socket
  } catch (error) {
    socket.destroy()
    throw error
  }
}

async function converse(
  socket: Socket,
  server: MailServer,
  envelope: Envelope,
  message: Buffer,
  deadline: AbortSignal,
): Promise<Delivery> {
  const smtp = new SMTPConnection({ ...server.options, connection: socket, socketCloseTimeout: closeTimeoutMs })
  const { credentials, forceAuth } = server
  const delivery = await new Promise<Delivery>(resolve => {
    const fail = (failure: Failure) => resolve(describe(failure))
    const send = () =>
      smtp.send(envelope, message, error =>
        error
          ? fail(error)
          : resolve({ outcome: 'sent', command: 'DATA', responseCode: undefined, errorCode: undefined }),
      )
    smtp.on('error', fail)
    smtp.on('end', () => fail({ code: 'ECONNECTION' }))
    deadline.addEventListener('abort', () => fail(deadline.reason), { once: true })
    smtp.connect(error => {
      if (error) return fail(error)
      forgoPipelining(smtp)
      if (!credentials || !(smtp.allowsAuth || forceAuth)) return send()
      smtp.login({ credentials, method: server.authMethod }, failure => (failure ? fail(failure) : send()))
    })
  })
  if (delivery.outcome !== 'unknown') smtp.quit()
  smtp.close()
  return delivery
}

/**
 * Switches pipelining off through a private field of nodemailer, because it has no option for that; a test checks that
 * this works. With pipelining, nodemailer reports a refusal only after all replies have arrived. A server that refuses
 * the recipient and hangs up would then look like a lost connection.
 */
function forgoPipelining(smtp: SMTPConnection): void {
  const extensions: unknown = Reflect.get(smtp, '_supportedExtensions')
  if (!Array.isArray(extensions)) return
  Reflect.set(
    smtp,
    '_supportedExtensions',
    extensions.filter(extension => extension !== 'PIPELINING'),
  )
}

/**
 * The outcome of a failed attempt. The error's own text is left out, because it repeats the server's reply, which may
 * contain the address.
 */
function describe({ command, responseCode, code, originalCode, name }: Failure): Delivery {
  const refused = responseCode !== undefined && responseCode >= 400 && responseCode <= 599
  return {
    outcome: refused ? 'failed' : 'unknown',
    command: command ?? 'CONN',
    responseCode,
    errorCode: name === 'TimeoutError' || name === 'AbortError' ? 'ETIMEDOUT' : (originalCode ?? code),
  }
}
