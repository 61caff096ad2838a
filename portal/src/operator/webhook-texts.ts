/** Messages of the operator's page about all webhooks. */
import { counted, dictionary } from '../i18n/texts.ts'

export const operatorWebhookTexts = dictionary({
  en: {
    title: 'Partners’ webhooks',
    lead: 'Where the events of all accounts are sent. Disabled ones stand first.',
    none: 'Nobody has webhooks yet',
    status: 'How far the events have come',
    late: 'Changes wait for more than a minute. Check that a process does the background work.',
    lag: 'Oldest waiting change',
    seconds: (seconds: string) => `${seconds} s`,
    waiting: (count: number) => counted('en', count, { one: 'change waits', other: 'changes wait' }),
    lastTick: 'Last looked at',
    endpoints: 'Endpoints',
    counts: (failing: number, disabled: number) => `${failing} failing, ${disabled} disabled`,
    pending: 'Waiting deliveries',
    more: (url: string) => `Actions for ${url}`,
  },
  uk: {
    title: 'Вебхуки партнерів',
    lead: 'Куди надсилаються події всіх облікових записів. Вимкнені стоять першими.',
    none: 'Вебхуків ще ні в кого немає',
    status: 'Як далеко просунулися події',
    late: 'Зміни чекають понад хвилину. Перевірте, чи якийсь процес виконує фонову роботу.',
    lag: 'Найдавніша зміна чекає',
    seconds: (seconds: string) => `${seconds} с`,
    waiting: (count: number) =>
      counted('uk', count, { one: 'зміна чекає', few: 'зміни чекають', many: 'змін чекають', other: 'зміни чекають' }),
    lastTick: 'Востаннє переглянуто',
    endpoints: 'Адреси',
    counts: (failing: number, disabled: number) => `збоять: ${failing}, вимкнено: ${disabled}`,
    pending: 'Доставок очікує',
    more: (url: string) => `Дії для ${url}`,
  },
})
