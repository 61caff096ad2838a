import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { mkdtemp, readdir, readFile, rm, stat } from 'node:fs/promises'
import type { Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { suite, type TestContext, test } from 'node:test'
import { createFileMailer, type EsimMail, type Mailer, type MailOutcome } from '../../../src/esim/delivery/mail.ts'
import { qrPng } from '../../../src/esim/delivery/qr.ts'
import { createSmtpMailer, type MailEvent } from '../../../src/esim/delivery/smtp-mailer.ts'
import { decodeHeader, leaves, readMime } from '../../support/mime.ts'
import { requireProgram } from '../../support/require-program.ts'
import {
  hangUp,
  makeCertificate,
  type Script,
  type SmtpAct,
  type SmtpServerOptions,
  type SmtpStage,
  startScriptedSmtpServer,
  startSmtpServer,
} from '../../support/smtp.ts'

const from = 'Perkline <no-reply@perkline.example>'
const address = 'olena.koval@customer.example'
const activationCode = 'LPA:1$smdp.operator.example$7F3A-0B1C-95DE'
const certificate = makeCertificate()
/** Long enough to connect and send on any machine, and short enough to wait for. */
const shortMs = 2_500

const credentials = { user: 'shop@bank.example', pass: 'p:a/s s%ї' }
const userinfo = `${encodeURIComponent(credentials.user)}:${encodeURIComponent(credentials.pass)}@`
const withUser = (url: string) => url.replace('://', `://${userinfo}`)
const stages: SmtpStage[] = ['greeting', 'auth', 'mail', 'rcpt', 'half-message', 'message']

function esimMail(overrides: Partial<EsimMail> = {}): EsimMail {
  const code = overrides.activationCode ?? activationCode
  return {
    to: address,
    activationCode: code,
    qrPng: qrPng(code),
    operatorName: 'Київзв’язок',
    operatorNameEn: 'Kyivzviazok',
    tariffName: 'Європа 10 ГБ',
    bankName: 'Банк «Дніпро»',
    orderId: randomUUID(),
    ...overrides,
  }
}

function smtpMailer(t: TestContext, smtpUrl: string, timeoutMs = 10_000): { mailer: Mailer; events: MailEvent[] } {
  const events: MailEvent[] = []
  const mailer = createSmtpMailer({ smtpUrl, from, timeoutMs, log: event => events.push(event) })
  t.after(() => mailer.close())
  return { mailer, events }
}

async function mailServer(t: TestContext, options: SmtpServerOptions = {}) {
  const server = await startSmtpServer(options)
  t.after(() => server.close())
  return server
}

async function scriptedServer(t: TestContext, script: Script) {
  const server = await startScriptedSmtpServer(script)
  t.after(() => server.close())
  return server
}

/** `command responseCode errorCode` of the only event, as far as they exist. */
function told(events: MailEvent[]): string {
  assert.equal(events.length, 1)
  return [events[0]?.command, events[0]?.responseCode, events[0]?.errorCode]
    .filter(part => part !== undefined)
    .join(' ')
}

/**
 * Keeps its side of the connection open. Writing to a client that has closed only its own half succeeds, so only a
 * closed socket ends the attempt.
 */
function stay(socket: Socket) {
  socket.removeAllListeners('end')
  const talk = setInterval(() => socket.write('250 still here\r\n'), 20)
  socket.on('close', () => clearInterval(talk))
}

suite('the message', { concurrency: true }, () => {
  test('the message has the activation code in the text part, and the QR inline beside the HTML part', async t => {
    const server = await mailServer(t)
    const { mailer, events } = smtpMailer(t, server.url)
    const mail = esimMail()

    assert.equal(await mailer.send(mail), 'sent')

    assert.deepEqual(events, [
      { outcome: 'sent', command: 'DATA', responseCode: undefined, errorCode: undefined, orderId: mail.orderId },
    ])
    const [received, ...others] = server.messages
    assert.ok(received)
    assert.equal(others.length, 0)
    assert.deepEqual([received.from, received.to], ['no-reply@perkline.example', [address]])

    const message = readMime(received.content)
    assert.equal(message.headers.get('to'), address)
    assert.equal(message.headers.get('auto-submitted'), 'auto-generated')
    assert.equal(message.headers.get('message-id'), `<esim.${mail.orderId}@perkline.example>`)
    assert.equal(
      decodeHeader(message.headers.get('subject') ?? ''),
      'Ваша eSIM від Київзв’язок / Your eSIM from Kyivzviazok',
    )
    assert.match(message.headers.get('content-type') ?? '', /^multipart\/alternative/)
    assert.match(message.parts[1]?.headers.get('content-type') ?? '', /^multipart\/related/)

    const [text, html, picture, ...further] = leaves(message)
    assert.ok(text && html && picture)
    assert.equal(further.length, 0)
    assert.match(text.headers.get('content-type') ?? '', /^text\/plain; charset=utf-8/)
    assert.match(html.headers.get('content-type') ?? '', /^text\/html; charset=utf-8/)
    for (const part of [text.content.toString(), html.content.toString()]) {
      assert.ok(part.includes(activationCode))
      for (const word of ['Вітаємо', 'Hello', mail.operatorName, mail.tariffName, mail.bankName, mail.orderId]) {
        assert.ok(part.includes(word), word)
      }
      assert.match(part, /Ваша eSIM .*Київзв’язок.*Your eSIM .*Kyivzviazok/s, 'each language has its name')
    }
    assert.match(picture.headers.get('content-type') ?? '', /^image\/png/)
    assert.match(picture.headers.get('content-disposition') ?? '', /^inline/)
    const pictureId = picture.headers.get('content-id')?.slice(1, -1)
    assert.ok(pictureId)
    assert.deepEqual(html.content.toString().match(/src="[^"]*"/g), [`src="cid:${pictureId}"`])
    assert.ok(!html.content.toString().includes('data:'))
    assert.deepEqual(picture.content, mail.qrPng)
  })

  test('the Message-ID is the same for the same order and another for another', async t => {
    const server = await mailServer(t)
    const { mailer } = smtpMailer(t, server.url)
    const mail = esimMail()
    for (const message of [mail, mail, esimMail()]) assert.equal(await mailer.send(message), 'sent')
    const [first, again, other] = server.messages.map(({ content }) => readMime(content).headers.get('message-id'))
    assert.equal(first, again)
    assert.notEqual(first, other)
  })

  test('names and codes cannot become HTML', async t => {
    const server = await mailServer(t)
    const { mailer } = smtpMailer(t, server.url)
    const odd = `<script>alert("x")</script>&'`
    await mailer.send(
      esimMail({ operatorName: odd, operatorNameEn: odd, tariffName: odd, bankName: odd, activationCode: odd }),
    )
    const [text, html] = leaves(readMime(server.messages[0]?.content ?? ''))
    assert.ok(text?.content.toString().includes(odd))
    const page = html?.content.toString() ?? ''
    assert.ok(!page.includes('<script>'))
    assert.equal(page.split('&#60;script&#62;alert(&#34;x&#34;)&#60;/script&#62;&#38;&#39;').length, 9)
  })

  test('a name cannot add a header', async t => {
    const server = await mailServer(t)
    const { mailer } = smtpMailer(t, server.url)
    await mailer.send(esimMail({ operatorName: 'Name\r\nBcc: other@customer.example\r\n\r\nbody' }))
    const headers = readMime(server.messages[0]?.content ?? '').headers
    assert.equal(headers.get('bcc'), undefined)
    assert.match(decodeHeader(headers.get('subject') ?? ''), /Name Bcc: other/)
    assert.deepEqual(server.messages[0]?.to, [address])
  })

  test('the name of the sender is kept, whatever letters it has', async t => {
    const server = await mailServer(t)
    const sender = 'Перклайн <no-reply@perkline.example>'
    const mailer = createSmtpMailer({ smtpUrl: server.url, from: sender, timeoutMs: 10_000, log: () => {} })
    await mailer.send(esimMail())
    assert.equal(decodeHeader(readMime(server.messages[0]?.content ?? '').headers.get('from') ?? ''), sender)
  })
})

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
      assert.equal(told(events), 'CONN EADDRESS')
      assert.equal(server.connections(), 0)
    })
  }
})

suite('failed: no connection at all', { concurrency: true }, () => {
  test('a refused connection is "failed"', async t => {
    const { mailer, events } = smtpMailer(t, 'smtp://127.0.0.1:1')
    assert.equal(await mailer.send(esimMail()), 'failed')
    assert.equal(told(events), 'CONN ECONNREFUSED')
  })

  test('a mail server whose name is unknown is "failed"', async t => {
    const { mailer, events } = smtpMailer(t, 'smtp://mail.invalid:25')
    assert.equal(await mailer.send(esimMail()), 'failed')
    assert.match(told(events), /^CONN (ENOTFOUND|EAI_AGAIN|ETIMEDOUT)$/)
  })

  test('a mail server that is out of reach is "failed"', async t => {
    const { mailer, events } = smtpMailer(t, 'smtp://192.0.2.1:25', shortMs)
    assert.equal(await mailer.send(esimMail()), 'failed')
    assert.match(told(events), /^CONN (ETIMEDOUT|ENETUNREACH|EHOSTUNREACH|ECONNREFUSED)$/)
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
      assert.equal(told(events), report)
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
      assert.equal(told(events), report)
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
      assert.match(told(events), /^CONN (ECONNECTION|ECONNRESET|EPIPE)$/)
      assert.equal(server.messages.length, 0)
      await server.idle()
    })

    test(`no answer at the stage ${stage} is "unknown" at the deadline`, async t => {
      const server = await mailServer(t, { acts: { [stage]: 'never' }, credentials })
      const { mailer, events } = smtpMailer(t, withUser(server.url), shortMs)
      assert.equal(await mailer.send(esimMail()), 'unknown')
      assert.equal(told(events), 'CONN ETIMEDOUT')
      assert.equal(server.messages.length, 0)
      await server.idle()
    })
  }

  test('answers that are quick enough one by one, but not together, are "unknown"', async t => {
    const late = { afterMs: 0.4 * shortMs }
    const server = await mailServer(t, { acts: { greeting: late, mail: late, rcpt: late, message: late } })
    const { mailer, events } = smtpMailer(t, server.url, shortMs)
    assert.equal(await mailer.send(esimMail()), 'unknown')
    assert.equal(told(events), 'CONN ETIMEDOUT')
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
      assert.equal(told(events), report)
      await server.idle()
    })
  }
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
    assert.equal(told(wrong.events), 'AUTH PLAIN 535 EAUTH')
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
      assert.equal(told(events), 'CONN DEPTH_ZERO_SELF_SIGNED_CERT')
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
    assert.equal(told(events), 'CONN ERR_SSL_WRONG_VERSION_NUMBER')
    await server.idle()
  })

  test('TLS from the start with a server that says nothing is "unknown" at the deadline', async t => {
    const server = await scriptedServer(t, {
      greeting: [socket => setImmediate(() => socket.removeAllListeners('data'))],
    })
    const { mailer, events } = smtpMailer(t, server.url.replace('smtp:', 'smtps:'), shortMs)
    assert.equal(await mailer.send(esimMail()), 'unknown')
    assert.equal(told(events), 'CONN ETIMEDOUT')
    await server.idle()
  })

  test('a URL that requires TLS sends nothing to a server without it', async t => {
    const server = await mailServer(t)
    const { mailer, events } = smtpMailer(t, `${server.url}?requireTLS=true`)
    assert.equal(await mailer.send(esimMail()), 'failed')
    assert.match(told(events), /^STARTTLS 50\d ETLS$/)
    assert.equal(server.messages.length, 0)
  })
})

suite('what it tells', { concurrency: true }, () => {
  test('what is told of an attempt has neither the address, the code, the password nor what the server said', async t => {
    const text = `${address} <${address}> ${activationCode} ${credentials.pass}`
    const acts: SmtpAct[] = [{ refuse: 550, text }, 'hang-up', 'never']
    const events: MailEvent[] = []
    const attempts = stages.flatMap(stage => acts.map(act => ({ [stage]: act })))
    await Promise.all(
      attempts.map(async behaviour => {
        const server = await mailServer(t, { acts: behaviour, credentials })
        const attempt = smtpMailer(t, withUser(server.url), shortMs)
        assert.notEqual(await attempt.mailer.send(esimMail()), 'sent')
        events.push(...attempt.events)
      }),
    )
    assert.equal(events.length, attempts.length)
    for (const event of events) {
      assert.deepEqual(Object.keys(event).sort(), ['command', 'errorCode', 'orderId', 'outcome', 'responseCode'])
      for (const secret of [address, 'customer.example', activationCode, credentials.pass, credentials.user]) {
        assert.ok(!JSON.stringify(event).includes(secret))
      }
    }
  })

  test('not even a URL that asks for it makes the mail client write to the console', async t => {
    const server = await mailServer(t)
    const program = `
    import { createSmtpMailer } from ${JSON.stringify(new URL('../../../src/esim/delivery/smtp-mailer.ts', import.meta.url).href)}
    const smtpUrl = ${JSON.stringify(`${server.url}?logger=true&debug=true&transactionLog=true`)}
    const mailer = createSmtpMailer({ smtpUrl, from: 'a@b.example', timeoutMs: 10_000, log: () => {} })
    const names = { operatorName: 'o', operatorNameEn: 'o', tariffName: 't', bankName: 'b', orderId: 'i' }
    await mailer.send({ ...names, to: '${address}', activationCode: '${activationCode}', qrPng: Buffer.from('png') })`
    const child = spawn(process.execPath, ['--input-type=module', '--eval', program])
    let output = ''
    for (const stream of [child.stdout, child.stderr]) stream.on('data', chunk => (output += chunk))
    await once(child, 'close')
    assert.equal(server.messages.length, 1)
    assert.equal(output, '')
  })
})

suite('settings, and the end', { concurrency: true }, () => {
  const badUrls: [string, RegExp][] = [
    ['http://shop:hunter2@mail.example', /smtp:\/\/ or smtps:\/\//],
    ['mail.example:25', /smtp:\/\/ or smtps:\/\//],
    ['smtp://', /SMTP_URL/],
    ['smtp://shop:hunter2@mail.example:99999', /SMTP_URL/],
    ['smtp://shop@mail.example', /both a user and a password/],
    ['smtp://:hunter2@mail.example', /both a user and a password/],
    ['smtp://shop:hunter2@mail.example?lmtp=true', /lmtp/],
    ['smtp://shop:hunter2@mail.example?proxy=http://proxy.example', /proxy/],
  ]
  for (const [smtpUrl, reason] of badUrls) {
    test(`an SMTP URL that cannot be used is refused at once, and not repeated: ${smtpUrl}`, () => {
      assert.throws(
        () => createSmtpMailer({ smtpUrl, from, timeoutMs: 10_000, log: () => {} }),
        (error: Error) => reason.test(error.message) && !/hunter2|mail\.example/.test(String(error.stack)),
      )
    })
  }

  for (const sender of [
    '',
    'Perkline',
    'a@b.example, c@d.example',
    'а@b.example',
    'Group: a@b.example, c@d.example;',
  ]) {
    test(`a sender that is not one address is refused at once: ${JSON.stringify(sender)}`, () => {
      const options = { smtpUrl: 'smtp://127.0.0.1', from: sender, timeoutMs: 10_000, log: () => {} }
      assert.throws(() => createSmtpMailer(options), /sender/)
      assert.throws(() => createFileMailer({ directory: '/nowhere', from: sender }), /sender/)
    })
  }

  test('closing waits for what is under way, and nothing is sent afterwards', async t => {
    const server = await mailServer(t, { acts: { rcpt: { afterMs: 200 } } })
    const { mailer, events } = smtpMailer(t, server.url)
    const underWay = mailer.send(esimMail())
    await mailer.close()
    assert.equal(server.messages.length, 1)
    assert.equal(await underWay, 'sent')
    assert.equal(await mailer.send(esimMail()), 'failed')
    assert.equal(events.at(-1)?.errorCode, 'ECLOSED')
    assert.equal(server.connections(), 1)
  })
})

suite('the files of the sandbox', { concurrency: true }, () => {
  test('the file mailer writes each message as a file that only its owner can read', async t => {
    const parent = await mkdtemp(join(tmpdir(), 'perkline-mail-'))
    t.after(() => rm(parent, { recursive: true }))
    const directory = join(parent, 'deep', 'mail')
    const mailer = createFileMailer({ directory, from })
    const mail = esimMail()
    assert.equal(await mailer.send(mail), 'sent')
    const [name, ...others] = await readdir(directory)
    assert.ok(name)
    assert.equal(others.length, 0)
    assert.match(name, new RegExp(`^${mail.orderId}-\\d{4}-.*\\.eml$`))
    assert.equal((await stat(join(directory, name))).mode & 0o777, 0o600)
    const message = readMime(await readFile(join(directory, name)))
    assert.equal(message.headers.get('to'), address)
    assert.deepEqual(leaves(message)[2]?.content, mail.qrPng)
    await mailer.close()
  })

  test('the file mailer stays in its folder', async t => {
    const parent = await mkdtemp(join(tmpdir(), 'perkline-mail-'))
    t.after(() => rm(parent, { recursive: true }))
    const mailer = createFileMailer({ directory: join(parent, 'mail'), from })
    assert.equal(await mailer.send(esimMail({ orderId: '../../other' })), 'sent')
    assert.deepEqual(await readdir(parent), ['mail'])
  })

  test('the file mailer answers "failed" where it cannot write', async t => {
    const parent = await mkdtemp(join(tmpdir(), 'perkline-mail-'))
    t.after(() => rm(parent, { recursive: true }))
    const mailer = createFileMailer({ directory: join(parent, 'x\0y'), from })
    assert.equal(await mailer.send(esimMail()), 'failed')
    assert.equal(await mailer.send(esimMail({ to: 'nobody' })), 'failed')
  })
})
