/** Mailers and a message for tests of how e-mail is sent. */
import { randomUUID } from 'node:crypto'
import type { TestContext } from 'node:test'
import type { EsimMail, Mailer } from '../../src/esim/delivery/mail.ts'
import { createSmtpMailer, type MailEvent } from '../../src/esim/delivery/smtp-mailer.ts'
import { qrPng } from '../../src/text/qr.ts'
import { type SmtpServerOptions, type SmtpStage, startSmtpServer } from './smtp.ts'

export const from = 'Perkline <no-reply@perkline.example>'
export const address = 'olena.koval@customer.example'
export const activationCode = 'LPA:1$smdp.operator.example$7F3A-0B1C-95DE'

/** A time limit that allows any machine to connect and send, and that is short enough for a test to wait for it. */
export const shortMs = 2_500

export const credentials = { user: 'shop@bank.example', pass: 'p:a/s s%ї' }
const userinfo = `${encodeURIComponent(credentials.user)}:${encodeURIComponent(credentials.pass)}@`
export const withUser = (url: string) => url.replace('://', `://${userinfo}`)
export const stages: SmtpStage[] = ['greeting', 'auth', 'mail', 'rcpt', 'half-message', 'message']

export function esimMail(overrides: Partial<EsimMail> = {}): EsimMail {
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

export function smtpMailer(
  t: TestContext,
  smtpUrl: string,
  timeoutMs = 10_000,
): { mailer: Mailer; events: MailEvent[] } {
  const events: MailEvent[] = []
  const mailer = createSmtpMailer({ smtpUrl, from, timeoutMs, log: event => events.push(event) })
  t.after(() => mailer.close())
  return { mailer, events }
}

export async function mailServer(t: TestContext, options: SmtpServerOptions = {}) {
  const server = await startSmtpServer(options)
  t.after(() => server.close())
  return server
}
