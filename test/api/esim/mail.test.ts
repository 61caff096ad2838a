/** How one message is sent by SMTP: which attempts are sent, failed or unknown. */
import assert from 'node:assert/strict'
import type { Socket } from 'node:net'
import { suite, type TestContext, test } from 'node:test'
import SMTPConnection from 'nodemailer/lib/smtp-connection'
import type { MailEvent } from '../../../src/esim/delivery/smtp-mailer.ts'
import type { MailOutcome } from '../../../src/mail/delivery.ts'
import {
  activationCode,
  address,
  credentials,
  esimMail,
  mailServer,
  shortMs,
  smtpMailer,
  stages,
  withUser,
} from '../../support/mailers.ts'
import { readMime } from '../../support/mime.ts'
import { requireProgram } from '../../support/require-program.ts'
import {
  hangUp,
  makeCertificate,
  type Script,
  type SmtpAct,
  type SmtpServerOptions,
  type SmtpStage,
  startScriptedSmtpServer,
} from '../../support/smtp.ts'

const certificate = makeCertificate()

async function scriptedServer(t: TestContext, script: Script) {
  const server = await startScriptedSmtpServer(script)
  t.after(() => server.close())
  return server
}

/** Returns `command responseCode errorCode` of the only event, without those that it lacks. */
function summaryOf(events: MailEvent[]): string {
  assert.equal(events.length, 1)
  return [events[0]?.command, events[0]?.responseCode, events[0]?.errorCode]
    .filter(part => part !== undefined)
    .join(' ')
}

/**
 * Keeps the server's side of the connection open, and writes to the client again and again. A client that closes only
 * its own half of the connection does not stop this; only a client that closes the socket does.
 */
function stay(socket: Socket) {
  socket.removeAllListeners('end')
  const talk = setInterval(() => socket.write('250 still here\r\n'), 20)
  socket.on('close', () => clearInterval(talk))
}

suite('the address', { concurrency: true }, () => {
  for (const to of ['"a,b;c: d"@customer.example', '"x@y"@customer.example', "o'b+tag@[127.0.0.1]", 'a@[IPv6:::1]']) {
    test(`an odd address is one recipient: ${to}`, async t => {
      const server = await scriptedServer(t, {})
      const { mailer } = smtpMailer(t, server.url)
      assert.equal(await mailer.send(esimMail({ to })), 'sent')
      assert.deepEqual(
        server.lines.filter(line => line.startsWith('RCPT')),
        [`RCPT TO:<${to}>`],
      )
      const header = readMime(server.lines[server.heard.indexOf('message')] ?? '').headers.get('to')
      assert.equal(header?.replaceAll(/^<|>$/g, '').toLowerCase(), to.toLowerCase())
    })
  }

  for (const to of [
    'a@b.example,c@d.example',
    'a@b.example\r\nBcc: c@d.example',
    'Name <a@b.example>',
    '"<x>"@b.example',
  ]) {
    test(`nothing is sent, nor any connection made, for ${JSON.stringify(to)}`, async t => {
      const server = await mailServer(t)
      const { mailer, events } = smtpMailer(t, server.url)
      assert.equal(await mailer.send(esimMail({ to })), 'failed')
      assert.equal(summaryOf(events), 'CONN EADDRESS')
      assert.equal(server.connections(), 0)
    })
  }
})

suite('failed: no connection at all', { concurrency: true }, () => {
  test('a refused connection is "failed"', async t => {
    const { mailer, events } = smtpMailer(t, 'smtp://127.0.0.1:1')
    assert.equal(await mailer.send(esimMail()), 'failed')
    assert.equal(summaryOf(events), 'CONN ECONNREFUSED')
  })

  test('a mail server whose name is unknown is "failed"', async t => {
    const { mailer, events } = smtpMailer(t, 'smtp://mail.invalid:25')
    assert.equal(await mailer.send(esimMail()), 'failed')
    assert.match(summaryOf(events), /^CONN (ENOTFOUND|EAI_AGAIN|ETIMEDOUT)$/)
  })

  test('a mail server that is out of reach is "failed"', async t => {
    const { mailer, events } = smtpMailer(t, 'smtp://192.0.2.1:25', shortMs)
    assert.equal(await mailer.send(esimMail()), 'failed')
    assert.match(summaryOf(events), /^CONN (ETIMEDOUT|ENETUNREACH|EHOSTUNREACH|ECONNREFUSED)$/)
  })
})

suite('failed: a refusal with a reply code', { concurrency: true }, () => {
  const refusals: [SmtpStage, number, string][] = [
    ['greeting', 554, 'CONN 554 EPROTOCOL'],
    ['greeting', 421, 'CONN 421 EPROTOCOL'],
    ['auth', 535, 'AUTH PLAIN 535 EAUTH'],
    ['auth', 454, 'AUTH PLAIN 454 EAUTH'],
    ['mail', 550, 'MAIL FROM 550 EENVELOPE'],
    ['mail', 421, 'MAIL FROM 421 EENVELOPE'],
    ['rcpt', 550, 'RCPT TO 550 EENVELOPE'],
    ['rcpt', 450, 'RCPT TO 450 EENVELOPE'],
    ['rcpt', 421, 'RCPT TO 421 EENVELOPE'],
    ['message', 554, 'DATA 554 EMESSAGE'],
    ['message', 452, 'DATA 452 EMESSAGE'],
    ['message', 421, 'DATA 421 EMESSAGE'],
  ]
  for (const [stage, code, report] of refusals) {
    test(`a refusal with ${code} at the stage ${stage} is "failed", and may succeed the next time`, async t => {
      const refusal: SmtpAct = { refuse: code, text: `${address} may not have ${activationCode}` }
      const server = await mailServer(t, { acts: { [stage]: refusal }, credentials })
      const { mailer, events } = smtpMailer(t, withUser(server.url))
      assert.equal(await mailer.send(esimMail()), 'failed')
      assert.equal(summaryOf(events), report)
      assert.equal(server.messages.length, 0)
      await server.idle()

      server.behave({})
      assert.equal(await mailer.send(esimMail()), 'sent')
      assert.equal(server.messages.length, 1)
    })
  }

  const scriptedRefusals: [string, Script, string][] = [
    ['EHLO and HELO', { EHLO: ['502 no\r\n'], HELO: ['504 no\r\n'] }, 'HELO 504 EPROTOCOL'],
    ['EHLO with 421', { EHLO: ['421 later\r\n', hangUp] }, 'EHLO 421 ECONNECTION'],
    ['STARTTLS', { EHLO: ['250-hi\r\n250 STARTTLS\r\n'], STARTTLS: ['454 no\r\n'] }, 'STARTTLS 454 ETLS'],
    ['DATA with 451', { DATA: ['451 later\r\n'] }, 'DATA 451 EENVELOPE'],
    ['DATA with 554', { DATA: ['554-no\r\n554 never\r\n'] }, 'DATA 554 EENVELOPE'],
    ['RCPT and hanging up', { RCPT: ['550 no\r\n', hangUp] }, 'RCPT TO 550 EENVELOPE'],
    [
      'RCPT and hanging up, having offered pipelining',
      { EHLO: ['250-hi\r\n250 PIPELINING\r\n'], RCPT: ['550 no\r\n', hangUp] },
      'RCPT TO 550 EENVELOPE',
    ],
    ['the message and hanging up', { message: ['550 no\r\n', hangUp] }, 'DATA 550 EMESSAGE'],
    [
      'the message, in pieces',
      { message: ['55', socket => setTimeout(() => socket.write('0 no\r\n'), 50)] },
      'DATA 550 EMESSAGE',
    ],
  ]
  for (const [what, script, report] of scriptedRefusals) {
    test(`a server that refuses ${what} is "failed"`, async t => {
      const server = await scriptedServer(t, script)
      const { mailer, events } = smtpMailer(t, server.url)
      assert.equal(await mailer.send(esimMail()), 'failed')
      assert.equal(summaryOf(events), report)
      await server.idle()
    })
  }
})

suite('unknown: every other failure once the connection stood', { concurrency: true }, () => {
  for (const stage of stages) {
    test(`a connection lost at the stage ${stage} is "unknown"`, async t => {
      const server = await mailServer(t, { acts: { [stage]: 'hang-up' }, credentials })
      const { mailer, events } = smtpMailer(t, withUser(server.url))
      assert.equal(await mailer.send(esimMail()), 'unknown')
      assert.match(summaryOf(events), /^CONN (ECONNECTION|ECONNRESET|EPIPE)$/)
      assert.equal(server.messages.length, 0)
      await server.idle()
    })

    test(`no answer at the stage ${stage} is "unknown" at the deadline`, async t => {
      const server = await mailServer(t, { acts: { [stage]: 'never' }, credentials })
      const { mailer, events } = smtpMailer(t, withUser(server.url), shortMs)
      assert.equal(await mailer.send(esimMail()), 'unknown')
      assert.equal(summaryOf(events), 'CONN ETIMEDOUT')
      assert.equal(server.messages.length, 0)
      await server.idle()
    })
  }

  test('answers that are quick enough one by one, but not together, are "unknown"', async t => {
    const late = { afterMs: 0.4 * shortMs }
    const server = await mailServer(t, { acts: { greeting: late, mail: late, rcpt: late, message: late } })
    const { mailer, events } = smtpMailer(t, server.url, shortMs)
    assert.equal(await mailer.send(esimMail()), 'unknown')
    assert.equal(summaryOf(events), 'CONN ETIMEDOUT')
    await server.idle()
  })

  test('a message that is accepted after the deadline was "unknown", because it does arrive', async t => {
    const server = await mailServer(t, { acts: { message: { afterMs: 1.5 * shortMs } } })
    const { mailer } = smtpMailer(t, server.url, shortMs)
    assert.equal(await mailer.send(esimMail()), 'unknown')
    while (server.messages.length === 0) await new Promise(resolve => setTimeout(resolve, 20))
    assert.equal(server.messages.length, 1)
  })

  const oddServers: [string, Script, string][] = [
    ['hangs up after EHLO', { EHLO: [hangUp] }, 'CONN ECONNECTION'],
    ['hangs up after DATA', { DATA: [hangUp] }, 'CONN ECONNECTION'],
    ['never answers DATA', { DATA: [] }, 'CONN ETIMEDOUT'],
    ['greets with something else than 220', { greeting: ['250 hi\r\n'] }, 'CONN 250 EPROTOCOL'],
    ['greets with what is no reply', { greeting: ['SSH-2.0-server\r\n'] }, 'CONN EPROTOCOL'],
    ['goes on greeting for ever', { greeting: ['220-still\r\n'] }, 'CONN ETIMEDOUT'],
    ['answers the message with 354', { message: ['354 go ahead\r\n'] }, 'DATA 354 EMESSAGE'],
    ['answers the message with 600', { message: ['600 what\r\n'] }, 'DATA 600 EMESSAGE'],
    ['answers the message with a word', { message: ['refused\r\n'] }, 'DATA EMESSAGE'],
    ['breaks off inside the code of its reply', { message: ['55', hangUp] }, 'CONN ECONNECTION'],
    ['breaks off inside a reply of two lines', { message: ['550-no\r\n', hangUp] }, 'CONN ECONNECTION'],
    ['breaks off inside a good reply', { message: ['250 acc', hangUp] }, 'CONN ECONNECTION'],
    ['resets the connection after the message', { message: [socket => socket.resetAndDestroy()] }, 'CONN ECONNRESET'],
    [
      'hangs up instead of the TLS handshake',
      { EHLO: ['250-hi\r\n250 STARTTLS\r\n'], STARTTLS: ['220 go\r\n', hangUp] },
      'CONN ECONNRESET',
    ],
    [
      'never makes the TLS handshake',
      { EHLO: ['250-hi\r\n250 STARTTLS\r\n'], STARTTLS: ['220 go\r\n', socket => socket.removeAllListeners('data')] },
      'CONN ETIMEDOUT',
    ],
  ]
  for (const [what, script, report] of oddServers) {
    test(`a server that ${what} is "unknown"`, async t => {
      const server = await scriptedServer(t, script)
      const { mailer, events } = smtpMailer(t, server.url, report.endsWith('ETIMEDOUT') ? shortMs : 10_000)
      assert.equal(await mailer.send(esimMail()), 'unknown')
      assert.equal(summaryOf(events), report)
      await server.idle()
    })
  }
})

suite('a fault in our own process', () => {
  test('an error after the message was handed over is "unknown", because the message may have arrived', async t => {
    t.mock.method(SMTPConnection.prototype, 'quit', () => {
      throw new Error('a fault of the library')
    })
    const server = await mailServer(t)
    const { mailer, events } = smtpMailer(t, server.url)
    assert.equal(await mailer.send(esimMail()), 'unknown')
    assert.equal(summaryOf(events), 'CONN EDELIVER')
    assert.equal(server.messages.length, 1)
  })

  test('a message that cannot be composed is "failed", because nothing was sent', async t => {
    const server = await mailServer(t)
    const { mailer, events } = smtpMailer(t, server.url)
    const broken = { ...esimMail(), activationCode: undefined as unknown as string }
    assert.equal(await mailer.send(broken), 'failed')
    assert.equal(summaryOf(events), 'CONN ECOMPOSE')
    assert.equal(server.connections(), 0)
  })
})

suite('sent', { concurrency: true }, () => {
  test('a server that knows no EHLO gets the message by HELO', async t => {
    const server = await scriptedServer(t, { EHLO: ['502 what?\r\n'] })
    const { mailer } = smtpMailer(t, server.url)
    assert.equal(await mailer.send(esimMail()), 'sent')
    assert.deepEqual(server.heard.slice(0, 6), ['EHLO', 'HELO', 'MAIL', 'RCPT', 'DATA', 'message'])
  })

  test('a server that accepts the message and hangs up at once has accepted it', async t => {
    const server = await scriptedServer(t, { message: ['250 accepted\r\n', hangUp] })
    const { mailer } = smtpMailer(t, server.url)
    assert.equal(await mailer.send(esimMail()), 'sent')
    await server.idle()
  })

  test('we say goodbye, and close the connection even if the server never does', async t => {
    const server = await scriptedServer(t, { QUIT: [stay] })
    const { mailer } = smtpMailer(t, server.url)
    assert.equal(await mailer.send(esimMail()), 'sent')
    await server.idle()
    assert.equal(server.heard.at(-1), 'QUIT')
  })

  test('twenty messages at once are twenty messages', async t => {
    const server = await mailServer(t)
    const { mailer } = smtpMailer(t, server.url)
    const outcomes = await Promise.all(Array.from({ length: 20 }, () => mailer.send(esimMail())))
    assert.deepEqual(new Set(outcomes), new Set<MailOutcome>(['sent']))
    assert.equal(new Set(server.messages.map(({ content }) => readMime(content).headers.get('message-id'))).size, 20)
    await server.idle()
  })
})

suite('TLS and credentials', { concurrency: true }, () => {
  test('user and password of the URL are used, and a wrong password is "failed"', async t => {
    const server = await mailServer(t, { credentials })
    const right = smtpMailer(t, withUser(server.url))
    assert.equal(await right.mailer.send(esimMail()), 'sent')
    assert.equal(server.messages[0]?.user, credentials.user)
    const wrong = smtpMailer(t, server.url.replace('://', '://shop:guess@'))
    assert.equal(await wrong.mailer.send(esimMail()), 'failed')
    assert.equal(summaryOf(wrong.events), 'AUTH PLAIN 535 EAUTH')
  })

  for (const implicitTls of [true, false]) {
    const kind = implicitTls ? 'TLS from the start' : 'STARTTLS'
    const tlsTest = (name: string, run: (t: TestContext, options: SmtpServerOptions, ca: string) => Promise<void>) =>
      test(name, async t => {
        if (!requireProgram(t, 'openssl')) return
        assert.ok(certificate, 'openssl makes a certificate')
        await run(t, { certificate, implicitTls }, certificate.cert)
      })

    tlsTest(`${kind} carries the password and the message`, async (t, options, ca) => {
      const server = await mailServer(t, { ...options, credentials })
      const { mailer } = smtpMailer(t, `${withUser(server.url)}?tls.ca=${encodeURIComponent(ca)}`)
      assert.equal(await mailer.send(esimMail()), 'sent')
      assert.deepEqual([server.messages[0]?.secure, server.messages[0]?.user], [true, credentials.user])
      await server.idle()
    })

    tlsTest(`${kind} with a certificate that nobody vouches for is "unknown"`, async (t, options) => {
      const server = await mailServer(t, options)
      const { mailer, events } = smtpMailer(t, server.url)
      assert.equal(await mailer.send(esimMail()), 'unknown')
      assert.equal(summaryOf(events), 'CONN DEPTH_ZERO_SELF_SIGNED_CERT')
      assert.equal(server.messages.length, 0)
      await server.idle()
    })

    tlsTest(`${kind} with such a certificate works where the URL allows it`, async (t, options) => {
      const server = await mailServer(t, options)
      const { mailer } = smtpMailer(t, `${server.url}?tls.rejectUnauthorized=false`)
      assert.equal(await mailer.send(esimMail()), 'sent')
      assert.equal(server.messages[0]?.secure, true)
      await server.idle()
    })

    for (const stage of ['rcpt', 'message'] as const) {
      tlsTest(
        `${kind}: a refusal is "failed", a lost connection and silence "unknown", at ${stage}`,
        async (t, options) => {
          const server = await mailServer(t, options)
          const { mailer } = smtpMailer(t, `${server.url}?tls.rejectUnauthorized=false`, shortMs)
          const outcomes: MailOutcome[] = []
          for (const act of [{ refuse: 550 }, 'hang-up', 'never'] as const) {
            server.behave({ [stage]: act })
            outcomes.push(await mailer.send(esimMail()))
            await server.idle()
          }
          assert.deepEqual(outcomes, ['failed', 'unknown', 'unknown'])
          assert.equal(server.messages.length, 0)
        },
      )
    }
  }

  test('TLS from the start with a server that speaks none is "unknown"', async t => {
    const server = await scriptedServer(t, {})
    const { mailer, events } = smtpMailer(t, server.url.replace('smtp:', 'smtps:'))
    assert.equal(await mailer.send(esimMail()), 'unknown')
    assert.equal(summaryOf(events), 'CONN ERR_SSL_WRONG_VERSION_NUMBER')
    await server.idle()
  })

  test('TLS from the start with a server that says nothing is "unknown" at the deadline', async t => {
    const server = await scriptedServer(t, {
      greeting: [socket => setImmediate(() => socket.removeAllListeners('data'))],
    })
    const { mailer, events } = smtpMailer(t, server.url.replace('smtp:', 'smtps:'), shortMs)
    assert.equal(await mailer.send(esimMail()), 'unknown')
    assert.equal(summaryOf(events), 'CONN ETIMEDOUT')
    await server.idle()
  })

  test('a URL that requires TLS sends nothing to a server without it', async t => {
    const server = await mailServer(t)
    const { mailer, events } = smtpMailer(t, `${server.url}?requireTLS=true`)
    assert.equal(await mailer.send(esimMail()), 'failed')
    assert.match(summaryOf(events), /^STARTTLS 50\d ETLS$/)
    assert.equal(server.messages.length, 0)
  })
})
