/**
 * The audit's checks in the person's language. A check is recognised by its code. If the code is unknown, the
 * platform's own text is shown.
 */
import type { Language } from '../i18n/language.ts'
import type { Audit } from './queries.ts'

type Check = Audit['checks'][number]

/**
 * For each check, its rule, and the text that is shown when nothing wrong was found. In this text, `{name}` stands for a
 * number of the check.
 */
const texts: Record<string, Record<Language, [name: string, holds: string]>> = {
  'profile-states': {
    en: [
      'Every profile is free, reserved, sold or withdrawn',
      'Profiles: {profiles}, tariffs: {tariffs}. Free {free}, reserved {reserved}, sold {sold}, withdrawn {withdrawn}',
    ],
    uk: [
      'Кожен профіль вільний, зарезервований, проданий або вилучений',
      'Профілів: {profiles}, тарифів: {tariffs}. Вільних {free}, зарезервованих {reserved}, проданих {sold}, вилучених {withdrawn}',
    ],
  },
  'sealed-profiles': {
    en: ['Encrypted data belongs to its profile', 'Profiles picked at random can be decrypted'],
    uk: ['Зашифровані дані належать своєму профілю', 'Вибрані навмання профілі розшифровуються'],
  },
  'report-lines-retention': {
    en: ['Old report lines are removed', 'None is older than KEEP_REPORT_LINES_DAYS allows'],
    uk: ['Старі рядки звітів видалено', 'Жоден не зберігається довше, ніж дозволяє KEEP_REPORT_LINES_DAYS'],
  },
  'segments-retention': {
    en: ['Old segments are removed', 'None is older than KEEP_SEGMENTS_DAYS allows'],
    uk: ['Старі сегменти видалено', 'Жоден не зберігається довше, ніж дозволяє KEEP_SEGMENTS_DAYS'],
  },
  'msisdn-retention': {
    en: ['Old phone numbers are removed', 'None is older than KEEP_MSISDN_DAYS allows'],
    uk: ['Старі номери телефонів видалено', 'Жоден не зберігається довше, ніж дозволяє KEEP_MSISDN_DAYS'],
  },
  'live-orders': {
    en: ['No profile is in two open orders', 'Each reserved, sold or withdrawn profile is in exactly one order'],
    uk: [
      'Жоден профіль не входить до двох чинних замовлень',
      'Кожен зайнятий профіль належить рівно одному замовленню',
    ],
  },
  'order-references': {
    en: ['Every order has its bank, tariff and profile', 'The profile belongs to the tariff'],
    uk: ['Кожне замовлення має банк, тариф і профіль', 'Профіль належить до цього тарифу'],
  },
  'order-states': {
    en: ['Orders have known statuses only', 'Reserved, confirmed, cancelled, expired or withdrawn'],
    uk: ['Замовлення мають лише відомі статуси', 'Зарезервовані, підтверджені, скасовані, прострочені або вилучені'],
  },
  'order-values': {
    en: ['Every order has the data its status requires', 'Bank, reference, times and delivery fit the status'],
    uk: [
      'Кожне замовлення має дані, яких вимагає його статус',
      'Банк, номер, час і спосіб видачі відповідають статусу',
    ],
  },
  'external-ids': {
    en: ['Bank references are unique', 'No reference of a bank has two orders'],
    uk: ['Номери замовлень банку не повторюються', 'Жоден номер банку не має двох замовлень'],
  },
  'lost-profiles': {
    en: ['Every free profile can be sold', 'None is missing from the stock'],
    uk: ['Кожен вільний профіль можна продати', 'Жоден не загубився на складі'],
  },
  'returned-profiles': {
    en: ['Returned profiles are in their tariff', 'Each of them is in stock'],
    uk: ['Повернуті профілі належать до свого тарифу', 'Кожен із них є на складі'],
  },
  'activation-codes': {
    en: ['No activation code can be sold twice', 'Profiles with the same code are withdrawn or were both sold before'],
    uk: ['Жоден код активації не можна продати двічі', 'Профілі з однаковим кодом вилучено, або обидва продано раніше'],
  },
  feeds: {
    en: ['Event feeds have no gaps', 'In each account’s feed the numbers follow one another'],
    uk: ['У стрічках подій немає прогалин', 'У стрічці кожного учасника номери йдуть один за одним'],
  },
  'feed-orders': {
    en: ['Events of orders are in their bank’s feed', 'Each tells of an order that has ended so'],
    uk: ['Події замовлень у стрічці свого банку', 'Кожна розповідає про замовлення, яке так завершилося'],
  },
  'feed-confirmed': {
    en: ['Every confirmed order is in its bank’s feed', 'As far back as events are kept'],
    uk: ['Кожне підтверджене замовлення є у стрічці свого банку', 'За весь час, за який зберігаються події'],
  },
  'feed-campaigns': {
    en: [
      'Every step of a campaign is in the feeds',
      'In the merchant’s and in each bank’s that it concerns. Left out, because processes of 0.2 made them: {of02}',
    ],
    uk: [
      'Кожен крок кампанії є у стрічках',
      'У торговця й у кожного банку, якого він стосується. Не враховано кроків, які зробили процеси 0.2: {of02}',
    ],
  },
  'endpoint-secrets': {
    en: ['The secret of each webhook endpoint can be used', 'All of them can be decrypted'],
    uk: ['Секрет кожного вебхука придатний до використання', 'Усі секрети розшифровуються'],
  },
  'token-keys': {
    en: ['The platform has made every key that signs tokens', 'The master key proves each of them'],
    uk: ['Усі ключі підпису токенів створила платформа', 'Головний ключ підтверджує кожен із них'],
  },
  'audit-log': {
    en: ['The security log of the last two days is unchanged', 'Each entry continues the one before it'],
    uk: ['Журнал безпеки за останні дві доби не змінено', 'Кожен запис продовжує попередній'],
  },
  'sales-hours': {
    en: ['The hourly sales figures match the orders', 'Every order was counted again'],
    uk: ['Погодинні підсумки продажів збігаються із замовленнями', 'Кожне замовлення пораховано ще раз'],
  },
  'sales-days': {
    en: ['The daily sales figures match the hourly ones', 'The hours of each day add up'],
    uk: ['Денні підсумки продажів збігаються з погодинними', 'Години кожного дня дають його підсумок'],
  },
  'stock-counters': {
    en: ['The stock counters match the profiles', 'Loaded, sold and withdrawn profiles were counted again'],
    uk: ['Лічильники складу збігаються з профілями', 'Завантажені, продані й вилучені профілі пораховано ще раз'],
  },
  'statement-lines': {
    en: ['Each confirmed order has one statement line', 'Every line is a confirmed order with its price'],
    uk: [
      'Кожне підтверджене замовлення має один рядок виписки',
      'Кожен рядок є підтвердженим замовленням із його ціною',
    ],
  },
  'statement-chain': {
    en: [
      'Statements have no gaps and their files are unchanged',
      'Each file matches its hash and names the one before it',
    ],
    uk: [
      'Виписки йдуть без прогалин, а їхні файли не змінено',
      'Кожен файл відповідає своєму хешу й називає попередній',
    ],
  },
  'statement-sums': {
    en: ['Statement totals match their lines', 'Totals, tariffs and late lines were counted again'],
    uk: ['Суми виписок збігаються з їхніми рядками', 'Підсумки, тарифи й запізнілі рядки пораховано ще раз'],
  },
  'campaign-states': {
    en: ['Campaigns have known statuses only', 'Campaigns, banks and reports are in known states'],
    uk: ['Кампанії мають лише відомі статуси', 'Кампанії, банки та звіти перебувають у відомих станах'],
  },
  'launched-campaigns': {
    en: ['Every launched campaign has an approved bank', 'None waits for a bank’s decision'],
    uk: ['Кожна запущена кампанія має банк, що погодився', 'Жодна не чекає на рішення банку'],
  },
  'bank-parts': {
    en: ['Each bank’s part fits its campaign', 'Reconciliation follows the period and comes before payment'],
    uk: ['Участь кожного банку відповідає кампанії', 'Звірка йде після періоду й передує оплаті'],
  },
  'campaign-turns': {
    en: ['It is known where a merchant has something to do', 'Home pages show first what waits for the merchant'],
    uk: ['Відомо, де торговець має щось зробити', 'Головні сторінки показують спершу те, що чекає на торговця'],
  },
  'campaign-counts': {
    en: ['Campaigns are counted correctly', 'The counts by status match the campaigns'],
    uk: ['Кампанії пораховано правильно', 'Кількості за статусами збігаються з кампаніями'],
  },
  'history-moves': {
    en: ['Histories hold permitted steps only', 'Each entry is a step that the rules allow'],
    uk: ['В історії лише дозволені кроки', 'Кожен запис є кроком, який дозволяють правила'],
  },
  'history-gaps': {
    en: ['Histories have no gaps', 'Each entry begins where the one before ended'],
    uk: ['В історії немає прогалин', 'Кожен запис починається там, де закінчився попередній'],
  },
  'history-present': {
    en: ['Histories lead to the current status', 'The last entry is the current status'],
    uk: ['Історія веде до поточного статусу', 'Останній запис збігається з поточним статусом'],
  },
  'report-counts': {
    en: ['No report is missing', 'Each side has as many reports as are recorded'],
    uk: ['Жоден звіт не загубився', 'Кожна сторона має стільки звітів, скільки записано'],
  },
  'report-sums': {
    en: ['Reports add up', 'Lines, amounts, differences and compensations match the stored lines'],
    uk: ['Підсумки звітів правильні', 'Рядки, суми, розбіжності й компенсації збігаються зі збереженими рядками'],
  },
  'campaign-texts': {
    en: ['What banks read matches the data', 'The stored lists are up to date'],
    uk: ['Банки бачать те, що записано', 'Збережені списки актуальні'],
  },
  'segment-counts': {
    en: ['Segments have the stated number of customers', 'Numbers and lists match'],
    uk: ['У сегментах стільки клієнтів, скільки вказано', 'Кількості збігаються зі списками'],
  },
}

/**
 * The name and the result of a check in the person's language. The result of a failed check is the platform's own text,
 * because it names orders and profiles as the command line and the API do.
 *
 * @param figure formats a number in the person's language
 */
export function checkText(
  { code, name, ok, detail, params }: Check,
  language: Language,
  figure: (value: number) => string,
): Pick<Check, 'name' | 'detail'> {
  const known = texts[code]?.[language]
  if (!known) return { name, detail }
  const [ownName, holds] = known
  if (!ok) return { name: ownName, detail }
  // A result that an earlier version has stored may lack numbers. Then the platform's own text is shown.
  const names = [...holds.matchAll(/\{(\w+)\}/g)].map(([, count = '']) => count)
  if (!names.every(count => params?.[count] !== undefined)) return { name: ownName, detail }
  return { name: ownName, detail: holds.replace(/\{(\w+)\}/g, (_, count) => figure(params?.[count] ?? 0)) }
}
