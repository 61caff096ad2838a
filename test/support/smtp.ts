import { spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { type AddressInfo, createServer, type Server, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { buffer } from 'node:stream/consumers'
import { setTimeout as sleep } from 'node:timers/promises'
import { SMTPServer } from 'smtp-server'

/**
 * The points at which a mail server may misbehave. `half-message` is after the first bytes of the message, `message`
 * after its last byte.
 */
export type SmtpStage = 'greeting' | 'auth' | 'mail' | 'rcpt' | 'half-message' | 'message'

/** Refuse with a reply, drop the connection without one, never answer, or answer late. */
export type SmtpAct = { refuse: number; text?: string } | { afterMs: number } | 'hang-up' | 'never'

/** A message that the server answered with 250. */
type ReceivedMail = { from: string; to: string[]; content: Buffer; secure: boolean; user: string | undefined }

export type Certificate = { key: string; cert: string }

export type SmtpServerOptions = {
  acts?: Partial<Record<SmtpStage, SmtpAct>>
  /** If set, the server offers AUTH and accepts only this login and password. */
  credentials?: { user: string; pass: string }
  /**
   * With a certificate, the server offers STARTTLS. If `implicitTls` is set, it uses TLS from the first byte instead.
   */
  certificate?: Certificate
  implicitTls?: boolean
}

export type SmtpServer = {
  url: string
  port: number
  /** The messages that the server has accepted, in their order. */
  messages: ReceivedMail[]
  /** The number of connections that were made so far. */
  connections(): number
  /** Replaces the server's behaviour from the next command on. */
  behave(acts: Partial<Record<SmtpStage, SmtpAct>>): void
  /** Resolves when no connection is open. */
  idle(): Promise<void>
  close(): Promise<void>
}

/** Starts a real mail server on a free port of 127.0.0.1; without options it accepts and keeps every message. */
export async function startSmtpServer(options: SmtpServerOptions = {}): Promise<SmtpServer> {
  let acts = options.acts ?? {}
  const messages: ReceivedMail[] = []
  const { credentials, certificate, implicitTls = false } = options

  /**
   * Does what the test has set for this stage. Resolves with the error to reply with, or with undefined when the server
   * should continue normally.
   */
  async function play(stage: SmtpStage, remotePort: number): Promise<Error | undefined> {
    const act = acts[stage]
    if (act === undefined) return undefined
    if (act === 'hang-up') sockets.at(remotePort)?.destroy()
    if (typeof act === 'string') return new Promise(() => {})
    if ('refuse' in act) return Object.assign(new Error(act.text ?? 'refused'), { responseCode: act.refuse })
    await sleep(act.afterMs)
    return undefined
  }

  const server = new SMTPServer({
    ...certificate,
    secure: implicitTls,
    authOptional: credentials === undefined,
    allowInsecureAuth: certificate === undefined,
    disabledCommands: [...(certificate ? [] : ['STARTTLS']), ...(credentials ? [] : ['AUTH'])],
    disableReverseLookup: true,
    logger: false,
    onConnect: ({ remotePort }, done) => void play('greeting', remotePort).then(done),
    onMailFrom: (_address, { remotePort }, done) => void play('mail', remotePort).then(done),
    onRcptTo: (_address, { remotePort }, done) => void play('rcpt', remotePort).then(done),
    async onAuth({ username, password }, { remotePort }, done) {
      const refusal = await play('auth', remotePort)
      const right = username === credentials?.user && password === credentials?.pass
      if (refusal || !right) return done(refusal ?? Object.assign(new Error('wrong'), { responseCode: 535 }))
      done(null, { user: username })
    },
    async onData(stream, { envelope, remotePort, secure, user }, done) {
      let refusal: Error | undefined
      if (acts['half-message']) {
        await once(stream, 'readable')
        refusal = await play('half-message', remotePort)
      }
      const content = await buffer(stream)
      refusal ??= await play('message', remotePort)
      if (refusal) return done(refusal)
      const from = envelope.mailFrom ? envelope.mailFrom.address : ''
      messages.push({ from, to: envelope.rcptTo.map(({ address }) => address), content, secure, user })
      done()
    },
  })
  // The server also emits `error` when a test cuts a connection. Without a listener, that would end the test's process.
  server.on('error', () => {})
  const listener = server.listen(0, '127.0.0.1')
  const sockets = watchSockets(listener)
  await once(listener, 'listening')
  const { port } = listener.address() as AddressInfo
  return {
    url: `${implicitTls ? 'smtps' : 'smtp'}://127.0.0.1:${port}`,
    port,
    messages,
    connections: sockets.count,
    behave: next => {
      acts = next
    },
    idle: sockets.idle,
    close: sockets.close,
  }
}

/**
 * A script entry that drops the connection instead of sending a text. After the last entry of a list, the server just
 * waits.
 */
export const hangUp = Symbol('hang up')

type Saying = string | typeof hangUp | ((socket: Socket) => unknown)
type ScriptedStep = 'greeting' | 'EHLO' | 'HELO' | 'STARTTLS' | 'AUTH' | 'MAIL' | 'RCPT' | 'DATA' | 'message' | 'QUIT'
export type Script = Partial<Record<ScriptedStep, Saying[]>>
export type ScriptedSmtpServer = Pick<SmtpServer, 'url' | 'port' | 'connections' | 'idle' | 'close'> & {
  /** The first word of every line that came outside a message, and `message` for each whole message. */
  heard: string[]
  /** The text of each line or message in `heard`. */
  lines: string[]
}

const politeScript: Required<Script> = {
  greeting: ['220 scripted ESMTP\r\n'],
  EHLO: ['250 scripted\r\n'],
  HELO: ['250 scripted\r\n'],
  STARTTLS: ['220 go ahead\r\n'],
  AUTH: ['235 welcome\r\n'],
  MAIL: ['250 ok\r\n'],
  RCPT: ['250 ok\r\n'],
  DATA: ['354 go ahead\r\n'],
  message: ['250 accepted\r\n'],
  QUIT: ['221 bye\r\n', hangUp],
}

/** Starts a server that answers each step as a script says, for behaviour that no honest mail server has. */
export async function startScriptedSmtpServer(script: Script): Promise<ScriptedSmtpServer> {
  const heard: string[] = []
  const lines: string[] = []
  const sayings = { ...politeScript, ...script }
  const say = (socket: Socket, step: string) => {
    for (const saying of sayings[step as ScriptedStep] ?? ['500 what?\r\n']) {
      if (saying === hangUp) socket.end()
      else if (typeof saying === 'string') socket.write(saying)
      else saying(socket)
    }
  }
  const listener = createServer({ allowHalfOpen: true }, socket => {
    socket.on('error', () => {})
    socket.on('end', () => socket.end())
    say(socket, 'greeting')
    let received = ''
    let inMessage = false
    socket.on('data', chunk => {
      received += chunk.toString('latin1')
      for (;;) {
        const end = received.indexOf(inMessage ? '\r\n.\r\n' : '\r\n')
        if (end < 0) return
        const line = received.slice(0, end)
        const step = inMessage ? 'message' : (line.split(/[ :]/)[0] ?? '').toUpperCase()
        received = received.slice(end + (inMessage ? 5 : 2))
        inMessage = step === 'DATA' && String(sayings.DATA[0]).startsWith('354')
        heard.push(step)
        lines.push(line)
        say(socket, step)
      }
    })
  })
  const sockets = watchSockets(listener)
  listener.listen(0, '127.0.0.1')
  await once(listener, 'listening')
  const { port } = listener.address() as AddressInfo
  return {
    url: `smtp://127.0.0.1:${port}`,
    port,
    heard,
    lines,
    connections: sockets.count,
    idle: sockets.idle,
    close: sockets.close,
  }
}

/** A self-signed certificate for localhost and 127.0.0.1, made by the machine's openssl; nothing where there is none. */
export function makeCertificate(): Certificate | undefined {
  const directory = mkdtempSync(join(tmpdir(), 'perkline-certificate-'))
  const file = (name: string) => join(directory, name)
  try {
    const kind = ['req', '-x509', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes', '-days', '2']
    const name = ['-subj', '/CN=localhost', '-addext', 'subjectAltName=DNS:localhost,IP:127.0.0.1']
    const made = spawnSync('openssl', [...kind, ...name, '-keyout', file('key.pem'), '-out', file('cert.pem')])
    if (made.error || made.status !== 0) return undefined
    return { key: readFileSync(file('key.pem'), 'utf8'), cert: readFileSync(file('cert.pem'), 'utf8') }
  } finally {
    rmSync(directory, { recursive: true })
  }
}

function watchSockets(listener: Server) {
  // All sockets by the client's port. Ended sockets stay in this map: a listener that removes them would be lost,
  // because on STARTTLS the mail server removes every listener of a socket.
  const sockets = new Map<number, Socket>()
  let count = 0
  listener.on('connection', socket => {
    count++
    sockets.set(socket.remotePort ?? 0, socket)
  })
  return {
    count: () => count,
    at: (remotePort: number) => sockets.get(remotePort),
    idle: async () => {
      while ([...sockets.values()].some(socket => !socket.destroyed)) await sleep(5)
    },
    /** Destroys the sockets, because the mail server's own `close` would wait for sessions that never answer. */
    close: () =>
      new Promise<void>(resolve => {
        listener.close(() => resolve())
        for (const socket of sockets.values()) socket.destroy()
      }),
  }
}
