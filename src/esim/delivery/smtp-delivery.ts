import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import SMTPConnection from 'nodemailer/lib/smtp-connection'
import type { MailServer } from './mail-server.ts'

/** How one attempt ended, in words that can carry neither an address nor what the mail server said. */
export type Delivery = {
  outcome: 'sent' | 'failed' | 'unknown'
  /** The SMTP command at which it ended (`RCPT TO`), or `CONN` for the connection itself. */
  command: string
  /** The mail server's reply code, where it gave one. */
  responseCode: number | undefined
  /** The code of the error (`ECONNREFUSED`), where there was one. */
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

/** How long a connection may stay open once all is said, if the mail server does not close it. */
const closeTimeoutMs = 1_000

/**
 * Hands one message to the mail server and never throws. `failed` when the connection never stood or the server refused
 * with a 4xx or 5xx reply at any step, `unknown` for every other failure (behaviour 4: it counts as sent). Ends at the
 * deadline at the latest, and leaves its socket closed within a second of that.
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

/** The socket is our own, because only then is it certain whether a connection ever stood. */
async function openSocket({ host, port, options: { localAddress } }: MailServer, deadline: AbortSignal) {
  const socket = connect({ host, port, ...(localAddress === undefined ? {} : { localAddress }) })
  // An error that comes after everyone has lost interest in the socket must not end the process.
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
 * With pipelined commands nodemailer reports a refusal only once every reply has come: a server that refuses the recipient
 * and hangs up would pass for a lost connection. It has no option for this; a test holds that it works.
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

/** An error's own text stays here: it repeats what the server said, and with it perhaps the address. */
function describe({ command, responseCode, code, originalCode, name }: Failure): Delivery {
  const refused = responseCode !== undefined && responseCode >= 400 && responseCode <= 599
  return {
    outcome: refused ? 'failed' : 'unknown',
    command: command ?? 'CONN',
    responseCode,
    errorCode: name === 'TimeoutError' || name === 'AbortError' ? 'ETIMEDOUT' : (originalCode ?? code),
  }
}
