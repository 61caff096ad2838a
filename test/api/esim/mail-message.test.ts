/**
 * What a message with a QR code contains, what is recorded about an attempt to send it, and the settings of the
 * mailers.
 */
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, readdir, readFile, rm, stat } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { suite, test } from 'node:test'
import { createFileMailer } from '../../../src/esim/delivery/mail.ts'
import { createSmtpMailer, type MailEvent } from '../../../src/esim/delivery/smtp-mailer.ts'
import {
  activationCode,
  address,
  credentials,
  esimMail,
  from,
  mailServer,
  shortMs,
  smtpMailer,
  stages,
  withUser,
} from '../../support/mailers.ts'
import { decodeHeader, leaves, readMime } from '../../support/mime.ts'
import type { SmtpAct } from '../../support/smtp.ts'

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

suite('what it tells', { concurrency: true }, () => {
  test('the record of an attempt contains neither the address, the code, the password nor the server’s text', async t => {
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
