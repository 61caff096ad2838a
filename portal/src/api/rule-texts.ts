/** The texts of the platform's rules for single values, by their codes. */
import type { Language } from '../i18n/language.ts'
import { counted } from '../i18n/texts.ts'
import type { components } from './schema/perkline.ts'

export type BrokenRule = NonNullable<components['schemas']['PortalError']['rules']>[number]

type Params = BrokenRule['params']
type RuleText = Record<Language, (params: Params) => string>

const characters = {
  en: (count: unknown) => counted('en', Number(count), { one: 'character', other: 'characters' }),
  uk: (count: unknown) =>
    counted('uk', Number(count), { one: 'символ', few: 'символи', many: 'символів', other: 'символу' }),
}

const places = {
  en: (count: unknown) => counted('en', Number(count), { one: 'decimal place', other: 'decimal places' }),
  uk: (count: unknown) =>
    counted('uk', Number(count), {
      one: 'знак після коми',
      few: 'знаки після коми',
      many: 'знаків після коми',
      other: 'знака після коми',
    }),
}

const same = (en: string, uk: string): RuleText => ({ en: () => en, uk: () => uk })

const fillIn = same('Fill this in', 'Заповніть це поле')
const omit = same('This cannot be given here', 'Тут цього вказувати не можна')
const notANumber = same('Enter a number', 'Введіть число')
const unreadable = same('There are characters that can’t be stored', 'Є символи, які неможливо зберегти')
const notADate = same('Enter a valid date', 'Введіть правильну дату')
const webAddress = same(
  'Enter a web address, such as https://shop.example',
  'Введіть вебадресу, наприклад https://shop.example',
)
const locked = same('This can no longer be changed', 'Це вже не можна змінити')
const notKnown = same('Unknown value. Choose one from the list', 'Невідоме значення. Виберіть зі списку')
const gone = same('It doesn’t exist any more', 'Цього вже немає')
const repeated = same('It is in the list twice', 'Є у списку двічі')
const country = same('Choose a country', 'Виберіть країну')
const choose = same('Choose one of the given values', 'Виберіть одне з наявних значень')
const yesOrNo = same('Choose yes or no', 'Виберіть так або ні')
const aText = same('This must be text', 'Має бути текст')
const aList = same('This must be a list', 'Має бути список')
const wrongForm = same('The format is wrong', 'Неправильний формат')
const picture = same('A web address, or a picture of at most 256 KiB', 'Вебадреса або картинка щонайбільше 256 КіБ')
const aDuration = same('A duration, such as PT24H', 'Тривалість, наприклад PT24H')
const anAccount = same('Choose one account', 'Виберіть один обліковий запис')
const taken = same('Another entry already has it', 'Це вже має інший запис')

const atLeast: RuleText = { en: ({ min }) => `${min} or more`, uk: ({ min }) => `${min} або більше` }
const atMost: RuleText = { en: ({ max }) => `${max} or less`, uk: ({ max }) => `${max} або менше` }
const atMostCharacters: RuleText = {
  en: ({ max }) => `At most ${characters.en(max)}`,
  uk: ({ max }) => `Щонайбільше ${characters.uk(max)}`,
}
const oneLine: RuleText = {
  en: ({ max }) => `1 to ${characters.en(max)}, in one line`,
  uk: ({ max }) => `Від 1 до ${max} символів, в один рядок`,
}
const latin = (max: number): RuleText =>
  same(
    `1 to ${max} Latin letters, digits, dots, underscores or hyphens`,
    `Від 1 до ${max} латинських літер, цифр, крапок, підкреслень або дефісів`,
  )

const types: Record<string, RuleText> = {
  number: notANumber,
  integer: notANumber,
  boolean: yesOrNo,
  string: aText,
  array: aList,
  null: omit,
}

/** Does not compile when a rule of the platform has no text. */
export const ruleTexts: Record<BrokenRule['rule'], RuleText> = {
  given: fillIn,
  omitted: omit,
  type: {
    en: ({ type }) => (types[String(type).replace(/ or null$/, '')] ?? wrongForm).en({}),
    uk: ({ type }) => (types[String(type).replace(/ or null$/, '')] ?? wrongForm).uk({}),
  },
  'given-once': same('This is entered twice', 'Це вказано двічі'),
  'max-fields': {
    en: ({ max }) => `At most ${max} entries`,
    uk: ({ max }) => `Щонайбільше ${max} записів`,
  },
  'max-length': atMostCharacters,
  'min-length': {
    en: ({ min }) => (min === 1 ? 'Fill this in' : `At least ${characters.en(min)}`),
    uk: ({ min }) => (min === 1 ? 'Заповніть це поле' : `Щонайменше ${characters.uk(min)}`),
  },
  min: atLeast,
  max: atMost,
  'more-than': { en: ({ limit }) => `More than ${limit}`, uk: ({ limit }) => `Більше за ${limit}` },
  'exact-number': same(
    'The number has too many digits to be kept exactly',
    'У числі забагато цифр, щоб зберегти його точно',
  ),
  'multiple-of': { en: ({ divisor }) => `A multiple of ${divisor}`, uk: ({ divisor }) => `Кратне ${divisor}` },
  'min-items': { en: ({ min }) => `Choose at least ${min}`, uk: ({ min }) => `Виберіть щонайменше ${min}` },
  'max-items': { en: ({ max }) => `At most ${max} entries`, uk: ({ max }) => `Щонайбільше ${max} записів` },
  'no-repetitions': same('The list has duplicates', 'У списку є повтори'),
  'one-of': choose,
  value: choose,
  format: wrongForm,
  keyword: wrongForm,

  uuid: same('This is not a valid ID', 'Це не ідентифікатор'),
  url: webAddress,
  day: notADate,
  'date-time': notADate,
  instant: notADate,
  duration: aDuration,
  'overlap-duration': aDuration,
  'not-before': same('This is before the first day', 'Це раніше за перший день'),
  'max-days': {
    en: ({ max }) => `At most ${max} days`,
    uk: ({ max }) => `Щонайбільше ${max} днів`,
  },
  'before-end-of-time': same('This is too late', 'Це занадто пізно'),
  'clock-forwards': same('The clock goes only forwards', 'Годинник іде лише вперед'),
  'one-of-two': same('Fill in one of the two', 'Заповніть одне з двох'),
  'omitted-by-merchant': omit,
  'idempotency-key': wrongForm,
  'time-zone': same('Choose a time zone', 'Виберіть часовий пояс'),
  unicode: unreadable,
  'json-text': unreadable,
  text: {
    en: ({ max }) => `1 to ${characters.en(max)}`,
    uk: ({ max }) => `Від 1 до ${max} символів`,
  },
  login: {
    en: ({ max }) => `1 to ${characters.en(max)}, without invisible ones and without a space at either end`,
    uk: ({ max }) => `Від 1 до ${max} символів, без невидимих і без пробілів на початку й у кінці`,
  },
  'one-line': oneLine,
  'one-line-or-empty': oneLine,
  'visible-line': {
    en: ({ max }) => `At most ${characters.en(max)} in one line, without invisible ones`,
    uk: ({ max }) => `Щонайбільше ${characters.uk(max)} в один рядок, без невидимих`,
  },
  'visible-text': {
    en: ({ max }) => `At most ${characters.en(max)}, without invisible ones`,
    uk: ({ max }) => `Щонайбільше ${characters.uk(max)}, без невидимих`,
  },
  'max-characters': atMostCharacters,
  'not-blank': fillIn,
  'plain-lines': same(
    'Remove invisible control characters, and characters that change the text direction',
    'Приберіть невидимі керівні символи та символи, що змінюють напрям тексту',
  ),
  'plain-line': same(
    'Use one line, without characters that change the text direction',
    'Має бути один рядок без символів, що змінюють напрям тексту',
  ),
  code: latin(64),
  country,
  'upper-case-country': country,
  'country-or-global': country,
  currency: same(
    'A currency code of three capital letters, such as UAH',
    'Код валюти з трьох великих літер, наприклад UAH',
  ),
  'four-digits': same('A code of four digits', 'Код із чотирьох цифр'),
  'url-ident': latin(200),
  domain: same('A domain name, such as shop.example', 'Доменне ім’я, наприклад shop.example'),
  'web-address': webAddress,
  picture,
  banner: picture,
  'no-svg': same('SVG images can’t be used', 'Зображення SVG не підтримуються'),
  email: same(
    'Enter an email address in Latin letters, such as olena@bank.example',
    'Введіть адресу електронної пошти латиницею, наприклад olena@bank.example',
  ),
  msisdn: same('A whole phone number, such as +380671234567', 'Повний номер телефону, наприклад +380671234567'),
  iccid: same('18 to 20 digits', 'Від 18 до 20 цифр'),
  cursor: wrongForm,
  'sort-order': choose,
  'advance-or-now': wrongForm,

  'whole-number': {
    en: ({ min, max }) => (max === undefined ? `A whole number from ${min}` : `A whole number from ${min} to ${max}`),
    uk: ({ min, max }) => (max === undefined ? `Ціле число від ${min}` : `Ціле число від ${min} до ${max}`),
  },
  decimals: {
    en: ({ decimals }) => `At most ${places.en(decimals)}`,
    uk: ({ decimals }) => `Щонайбільше ${places.uk(decimals)}`,
  },
  percentage: {
    en: ({ decimals }) => `From 0 to 100, with at most ${places.en(decimals)}`,
    uk: ({ decimals }) => `Від 0 до 100, щонайбільше ${places.uk(decimals)}`,
  },
  price: {
    en: ({ decimals }) => `0 or more, with at most ${places.en(decimals)}`,
    uk: ({ decimals }) => `0 або більше, щонайбільше ${places.uk(decimals)}`,
  },

  future: same('Choose a time in the future', 'Має бути в майбутньому'),
  after: same('The end must be after the start', 'Кінець має бути після початку'),
  'not-below': same('Not less than the smallest', 'Не менше за найменшу'),
  'all-or-some-products': same(
    'Name products, or the whole assortment, not both',
    'Вкажіть товари або весь асортимент, не те й інше',
  ),
  'own-terminals': same('Choose at least 1', 'Виберіть щонайменше 1'),
  'unique-in-list': repeated,
  'unchanged-over': locked,
  'unchanged-approved': locked,
  'unchanged-status': locked,
  'unchanged-directory': same(
    'The platform’s directory holds the terminals of this campaign',
    'Термінали цієї кампанії веде довідник платформи',
  ),
  'only-additions': {
    en: ({ missing }) => `Only additions are possible: ${missing} is missing`,
    uk: ({ missing }) => `Можна лише додавати: бракує ${missing}`,
  },
  'unchanged-elements': {
    en: ({ changed }) => `Only additions are possible: ${changed} is changed`,
    uk: ({ changed }) => `Можна лише додавати: ${changed} змінено`,
  },
  'invitable-bank': same('This bank cannot be invited any more', 'Цей банк уже не можна запросити'),
  'open-merchant': same('No campaign can be made for this merchant', 'Для цього торговця кампанію не створити'),
  'known-payment-system': notKnown,
  'known-country': notKnown,
  'max-pending': {
    en: ({ max }) => `${max} campaigns already wait for the first approval of a bank. Invite banks later`,
    uk: ({ max }) => `Уже ${max} кампаній чекають на перше погодження банку. Запросіть банки пізніше`,
  },
  'max-pending-size': {
    en: ({ mebibytes }) =>
      `Campaigns that wait for a bank may have ${mebibytes} MiB in all, with terminals and banners`,
    uk: ({ mebibytes }) => `Кампанії, що чекають на банк, можуть мати разом ${mebibytes} МіБ, з терміналами й банерами`,
  },

  'login-invited': same(
    'Somebody is invited with this login already: withdraw that invitation first',
    'З цим логіном когось уже запрошено: спершу відкличте те запрошення',
  ),
  'login-taken': same('This login is taken', 'Цей логін зайнятий'),
  'login-of-disabled': same(
    'A disabled user has this login. Choose another one',
    'Цей логін має вимкнений користувач. Виберіть інший',
  ),
  'password-repeated': same('Don’t repeat one character or word', 'Не повторюйте один символ чи слово'),
  'password-run': same(
    'Don’t use a run of characters, such as abcdef',
    'Не використовуйте символи поспіль, наприклад abcdef',
  ),
  'password-known': same(
    'Too easy to guess: it is like your login, your company’s name or a common password',
    'Надто легко вгадати: схоже на логін, назву компанії або поширений пароль',
  ),
  'present-password': same('This is not your current password', 'Це не ваш поточний пароль'),
  'present-code': same('This is not the current code of the app', 'Це не поточний код застосунку'),
  network: same('A network like 192.0.2.0/24, or one address', 'Мережа на зразок 192.0.2.0/24 або одна адреса'),
  'sequence-or-now': same('An event’s number from 0, or now', 'Номер події від 0 або now'),
  'sequence-or-instant': same('An event’s number, or a date and time', 'Номер події або дата й час'),
  'event-type': choose,
  'event-types': choose,
  'endpoint-scheme': {
    en: ({ schemes }) => `The address must start with ${schemes}`,
    uk: ({ schemes }) => `Адреса має починатися з ${String(schemes).replace(' or ', ' або ')}`,
  },
  'endpoint-characters': same(
    'The address can’t have spaces or backslashes',
    'В адресі не може бути пробілів і зворотних скісних рисок',
  ),
  'endpoint-user': same('Leave out the user and password', 'Приберіть ім’я користувача та пароль'),
  'endpoint-fragment': same('Leave out the # and what follows it', 'Приберіть # і все після нього'),
  'endpoint-port': {
    en: ({ ports }) => `Only these ports can be called: ${ports}`,
    uk: ({ ports }) => `Можна викликати лише ці порти: ${ports}`,
  },
  'endpoint-host': same('This address can’t be called from outside', 'Цю адресу не можна викликати ззовні'),
  'max-replayed': {
    en: ({ max }) => `Choose fewer events: at most ${max}`,
    uk: ({ max }) => `Виберіть менше подій: щонайбільше ${max}`,
  },
  'own-address': {
    en: ({ address }) => `Your address ${address} is in none of these networks: you would lose access`,
    uk: ({ address }) => `Ваша адреса ${address} не входить до цих мереж: ви втратите доступ`,
  },
  'one-account': anAccount,
  'bank-or-merchant': anAccount,
  'no-role-of-merchant': omit,
  'role-of-bank': fillIn,
  'with-tariff': fillIn,

  'plain-text': aText,
  'quoted-text': aText,
  'true-or-false': yesOrNo,
  'all-or-list': aList,
  list: aList,
  mapping: wrongForm,
  'known-key': omit,
  once: same('This is entered twice', 'Це вказано двічі'),
  'not-null': fillIn,
  'no-alias': wrongForm,
  unique: repeated,
  'readable-file': same('The file can’t be read', 'Файл неможливо прочитати'),
  'one-of-terminals': same('Give the terminals only once', 'Вкажіть термінали лише раз'),
  new: same('This code is taken', 'Такий код уже є'),
  existing: gone,
  'mail-server': same(
    'Delivery by e-mail needs a mail server, and the platform has none',
    'Для доставки електронною поштою потрібен поштовий сервер, а платформа його не має',
  ),
  'lasting-id': locked,
  'free-id': taken,
}
