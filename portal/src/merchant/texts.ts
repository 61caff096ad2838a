/** Texts of the merchant's home and list of campaigns. */
import { counted, dictionary } from '../i18n/texts.ts'

export const merchantTexts = dictionary({
  en: {
    home: {
      lead: 'What waits for you, and by when',
      counts: 'Your campaigns',
      nothing: 'Nothing waits for you',
      nothingText: 'Launches, reports and settlements that need you will be listed here.',
      first: 'Plan your first campaign',
      firstText: 'Say what you give back and when, and invite banks. Each step after that is shown here.',
      bankActs: (bank: string) => `${bank} acts`,
      task: {
        'launch-possible': 'Launch it',
        'answer-report': (bank: string) => `Answer the report of ${bank}`,
        'confirm-settlement': (bank: string) => `Confirm settlement with ${bank}`,
        'mark-paid': 'Pay the compensation and mark it as paid',
        'decide-invitation': (bank: string) => `${bank} decides whether to take part`,
        'upload-report': (bank: string) => `${bank} uploads its report`,
        'acknowledge-compensation': (bank: string) => `${bank} confirms that the money has arrived`,
      },
      launchEarly: 'Launch it early: a bank takes part already',
      otherwise: {
        'participation-expires': 'Otherwise it goes on or ends without this bank',
        'campaign-expires': 'Otherwise it ends without having started',
        stays: 'Until then everything waits',
      },
    },
    campaigns: {
      create: 'New campaign',
      anyStatus: 'Any status',
      banks: 'Banks',
      takePart: (approved: number, invited: number) =>
        `${approved} of ${counted('en', invited, { one: 'bank', other: 'banks' })}`,
      noneText:
        'A campaign says what customers get back, where and when. Banks that you invite decide whether they take part.',
    },
  },
  uk: {
    home: {
      lead: 'Що чекає на вас і до якого часу',
      counts: 'Ваші кампанії',
      nothing: 'Нічого не чекає на вас',
      nothingText: 'Тут з’являться запуски, звіти й розрахунки, що потребують вас.',
      first: 'Сплануйте першу кампанію',
      firstText: 'Вкажіть, який кешбек і коли ви даєте, та запросіть банки. Кожен наступний крок буде показано тут.',
      bankActs: bank => `Діє ${bank}`,
      task: {
        'launch-possible': 'Запустіть її',
        'answer-report': bank => `Дайте відповідь на звіт: ${bank}`,
        'confirm-settlement': bank => `Підтвердьте розрахунок: ${bank}`,
        'mark-paid': 'Сплатіть компенсацію й позначте її сплаченою',
        'decide-invitation': bank => `${bank} вирішує, чи брати участь`,
        'upload-report': bank => `${bank} завантажує звіт`,
        'acknowledge-compensation': bank => `${bank} підтверджує надходження грошей`,
      },
      launchEarly: 'Можна запустити достроково: один із банків уже бере участь',
      otherwise: {
        'participation-expires': 'Інакше вона триватиме або завершиться без цього банку',
        'campaign-expires': 'Інакше вона завершиться, не розпочавшись',
        stays: 'Доти все чекає',
      },
    },
    campaigns: {
      create: 'Нова кампанія',
      anyStatus: 'Будь-який стан',
      banks: 'Банки',
      takePart: (approved, invited) =>
        `${approved} із ${counted('uk', invited, { one: 'банку', few: 'банків', many: 'банків', other: 'банку' })}`,
      noneText: 'Кампанія визначає, що повертається клієнтам, де й коли. Запрошені банки вирішують, чи брати участь.',
    },
  },
})
