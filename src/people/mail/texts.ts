/**
 * The texts of mails to people, in Ukrainian and English: a subject, paragraphs, and at most one link, to the
 * platform itself.
 */
import type { Changed, Language, PeopleMail } from './mails.ts'
import { shownLogin } from './shown-login.ts'

export type MailText = { subject: string; before: string[]; link: string | null; after: string[] }

/** The text of a mail. @param host the platform's host name, so that readers see where the mail comes from */
export function mailText(content: PeopleMail, language: Language, host: string): MailText {
  const texts = language === 'uk' ? ukrainian : english
  const mail = { ...content, login: shownLogin(content.login) }
  switch (mail.kind) {
    case 'invitation':
      return texts.invitation({ ...mail, host, until: untilText(mail.expiresAt, language) })
    case 'reset':
      return texts.reset({ ...mail, host, until: untilText(mail.expiresAt, language) })
    case 'factors-removed':
      return texts.factorsRemoved({ ...mail, host, until: mail.at === undefined ? null : untilText(mail.at, language) })
    case 'recovery-code-used':
      return texts.recoveryCodeUsed({ ...mail, host, until: untilText(mail.at, language) })
    case 'changed':
      return texts.changed({ ...mail, host, until: untilText(mail.at, language) })
  }
}

const kyivFormat = (locale: string) =>
  new Intl.DateTimeFormat(locale, { dateStyle: 'long', timeStyle: 'short', timeZone: 'Europe/Kyiv' })
const kyivTime: Record<Language, Intl.DateTimeFormat> = { uk: kyivFormat('uk-UA'), en: kyivFormat('en-GB') }

/**
 * An instant in Kyiv time, for readers of a mail. The text names the time zone, because we do not know the reader's
 * own. It also has the time in UTC, as in the audit log.
 */
function untilText(instant: string, language: Language): string {
  const format = kyivTime[language]
  const utc = `${instant.slice(0, 16).replace('T', ' ')} UTC`
  return `${format.format(new Date(instant))} (${language === 'uk' ? 'за Києвом' : 'Kyiv time'}; ${utc})`
}

type Addressed = { login: string; host: string }
type Linked = Addressed & { link: string; until: string }
type Texts = {
  invitation(values: Linked & { account: string }): MailText
  reset(values: Linked): MailText
  factorsRemoved(values: Addressed & { until: string | null }): MailText
  recoveryCodeUsed(values: Addressed & { until: string }): MailText
  changed(values: Addressed & { what: Changed; until: string }): MailText
}

const englishChanges: Record<Changed, { subject: string; sentence: string }> = {
  password: { subject: 'Your password was changed', sentence: 'the password was changed' },
  email: { subject: 'Your e-mail address was changed', sentence: 'the e-mail address was changed' },
  enabled: { subject: 'Your access was enabled again', sentence: 'the access was enabled again' },
  'factor-added': { subject: 'A second factor was set up', sentence: 'an authenticator app was set up' },
  'factor-removed': { subject: 'Your second factor was removed', sentence: 'the authenticator app was removed' },
  'recovery-codes': { subject: 'New recovery codes were made', sentence: 'new recovery codes were made' },
}

const ukrainianChanges: Record<Changed, { subject: string; sentence: string }> = {
  password: { subject: 'Пароль змінено', sentence: 'змінено пароль' },
  email: { subject: 'Адресу електронної пошти змінено', sentence: 'змінено адресу електронної пошти' },
  enabled: { subject: 'Доступ знову увімкнено', sentence: 'знову увімкнено доступ' },
  'factor-added': { subject: 'Налаштовано другий фактор', sentence: 'налаштовано застосунок із кодами' },
  'factor-removed': { subject: 'Другий фактор вилучено', sentence: 'вилучено застосунок із кодами' },
  'recovery-codes': { subject: 'Створено нові резервні коди', sentence: 'створено нові резервні коди' },
}

const english: Texts = {
  invitation: ({ account, login, host, link, until }) => ({
    subject: `You are invited to ${account}`,
    before: [
      'Hello,',
      `you are invited to the portal of ${host}, to work for ${account} with the login ${login}.`,
      'Choose your password here:',
    ],
    link,
    after: [`The link works once, until ${until}.`, 'If you do not know why you get this mail, ignore it.'],
  }),
  reset: ({ login, host, link, until }) => ({
    subject: 'Choose a new password',
    before: ['Hello,', `a new password was asked for, for the login ${login} at ${host}. Choose it here:`],
    link,
    after: [
      `The link works once, until ${until}. All your sessions end then.`,
      'If it was not you, ignore this mail: your password stays as it is.',
    ],
  }),
  factorsRemoved: ({ login, host, until }) => ({
    subject: 'Your second factor was removed',
    before: [
      'Hello,',
      `whoever manages your account at ${host} has removed the second factor of the login ${login}, and its recovery codes${until === null ? '' : `, on ${until}`}.`,
      'If you have not asked for that, tell them at once.',
    ],
    link: null,
    after: [],
  }),
  recoveryCodeUsed: ({ login, host, until }) => ({
    subject: 'A recovery code was used',
    before: [
      'Hello,',
      `a recovery code of the login ${login} at ${host} was used, on ${until}.`,
      'If it was not you, change your password and make new recovery codes at once.',
    ],
    link: null,
    after: [],
  }),
  changed: ({ what, login, host, until }) => ({
    subject: englishChanges[what].subject,
    before: [
      'Hello,',
      `for the login ${login} at ${host} ${englishChanges[what].sentence}, on ${until}.`,
      'If it was neither you nor whoever manages your account, tell them at once.',
    ],
    link: null,
    after: [],
  }),
}

const ukrainian: Texts = {
  invitation: ({ account, login, host, link, until }) => ({
    subject: `Вас запрошено до ${account}`,
    before: [
      'Вітаємо!',
      `Вас запрошено до порталу ${host}, щоб працювати для ${account} з логіном ${login}.`,
      'Створіть свій пароль тут:',
    ],
    link,
    after: [`Посилання спрацює один раз, до ${until}.`, 'Якщо ви не знаєте, звідки цей лист, не зважайте на нього.'],
  }),
  reset: ({ login, host, link, until }) => ({
    subject: 'Новий пароль',
    before: ['Вітаємо!', `Для логіна ${login} на ${host} попросили новий пароль. Створіть його тут:`],
    link,
    after: [
      `Посилання спрацює один раз, до ${until}. Усі ваші сеанси тоді завершаться.`,
      'Якщо це були не ви, не зважайте на цей лист: пароль лишається той самий.',
    ],
  }),
  factorsRemoved: ({ login, host, until }) => ({
    subject: 'Другий фактор вилучено',
    before: [
      'Вітаємо!',
      `Ті, хто керує вашим обліковим записом на ${host}, вилучили другий фактор логіна ${login} і його резервні коди${until === null ? '' : `: ${until}`}.`,
      'Якщо ви про це не просили, одразу скажіть їм.',
    ],
    link: null,
    after: [],
  }),
  recoveryCodeUsed: ({ login, host, until }) => ({
    subject: 'Використано резервний код',
    before: [
      'Вітаємо!',
      `Використано резервний код логіна ${login} на ${host}: ${until}.`,
      'Якщо це були не ви, одразу змініть пароль і створіть нові резервні коди.',
    ],
    link: null,
    after: [],
  }),
  changed: ({ what, login, host, until }) => ({
    subject: ukrainianChanges[what].subject,
    before: [
      'Вітаємо!',
      `Для логіна ${login} на ${host} ${ukrainianChanges[what].sentence}: ${until}.`,
      'Якщо це були не ви і не ті, хто керує вашим обліковим записом, одразу скажіть їм.',
    ],
    link: null,
    after: [],
  }),
}
