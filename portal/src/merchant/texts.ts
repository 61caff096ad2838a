/** Messages of the merchant's home and its list of campaigns. */
import { counted, dictionary } from '../i18n/texts.ts'

export const merchantTexts = dictionary({
  en: {
    home: {
      lead: 'Your tasks, deadlines and payments',
      counts: 'Your campaigns',
      nothing: 'You’re all caught up',
      nothingText: 'Launches, reports and settlements that need your action will appear here.',
      first: 'Create your first campaign',
      firstText: 'Set the cashback and the period, and invite banks. Every next step will appear here.',
      task: {
        'launch-possible': 'Launch the campaign',
        'answer-report': (bank: string) => `Review the report from ${bank}`,
        'confirm-settlement': (bank: string) => `Confirm the settlement with ${bank}`,
        'mark-paid': 'Pay the compensation',
        'decide-invitation': (bank: string) => `${bank} is deciding whether to take part`,
        'upload-report': (bank: string) => `Waiting for the report from ${bank}`,
        'acknowledge-compensation': (bank: string) => `Waiting for ${bank} to confirm the payment`,
      },
      action: {
        'launch-possible': 'Launch',
        'answer-report': 'Review',
        'confirm-settlement': 'Confirm',
        'mark-paid': 'Pay',
        'decide-invitation': 'View',
        'upload-report': 'View',
        'acknowledge-compensation': 'View',
      },
      launchEarly: 'Launch now, or wait for the other banks',
      otherwise: {
        'participation-expires': 'Without a decision, this bank is left out.',
        'campaign-expires': 'If it isn’t launched in time, the campaign expires.',
        stays: '',
      },
      byBanks: 'Created by banks at your cost',
      byBanksText: 'Banks created these campaigns for you. You pay your share of the cashback after the period.',
      byBank: (bank: string) => `Created by ${bank}`,
      share: (percent: string, cashback: string) => `You pay ${percent} of the ${cashback} cashback`,
      upTo: (amount: string) => `Budget ${amount}`,
      moreByBanks: 'There are more of them in the list of campaigns.',
    },
    campaigns: {
      create: 'New campaign',
      anyStatus: 'Any status',
      banks: 'Banks',
      takePart: (approved: number, invited: number) =>
        `${approved} of ${counted('en', invited, { one: 'bank', other: 'banks' })}`,
      noneText:
        'A campaign sets what customers get back, where and when. The banks you invite decide whether to take part.',
    },
  },
  uk: {
    home: {
      lead: 'Ваші завдання, терміни й платежі',
      counts: 'Ваші кампанії',
      nothing: 'Усе зроблено',
      nothingText: 'Тут з’являться запуски, звіти й розрахунки, що потребують вашої уваги.',
      first: 'Створіть першу кампанію',
      firstText: 'Вкажіть кешбек і період та запросіть банки. Кожен наступний крок з’явиться тут.',
      task: {
        'launch-possible': 'Запустіть кампанію',
        'answer-report': bank => `Перевірте звіт: ${bank}`,
        'confirm-settlement': bank => `Підтвердьте розрахунок: ${bank}`,
        'mark-paid': 'Сплатіть компенсацію',
        'decide-invitation': bank => `${bank} вирішує, чи брати участь`,
        'upload-report': bank => `Очікуємо на звіт: ${bank}`,
        'acknowledge-compensation': bank => `Очікуємо на підтвердження оплати: ${bank}`,
      },
      action: {
        'launch-possible': 'Запустити',
        'answer-report': 'Перевірити',
        'confirm-settlement': 'Підтвердити',
        'mark-paid': 'Сплатити',
        'decide-invitation': 'Переглянути',
        'upload-report': 'Переглянути',
        'acknowledge-compensation': 'Переглянути',
      },
      launchEarly: 'Запустіть зараз або дочекайтеся інших банків',
      otherwise: {
        'participation-expires': 'Без рішення цей банк не братиме участі.',
        'campaign-expires': 'Якщо не запустити вчасно, кампанія не відбудеться.',
        stays: '',
      },
      byBanks: 'Створені банками за ваш рахунок',
      byBanksText: 'Ці кампанії для вас створили банки. Свою частку кешбеку ви сплачуєте після завершення періоду.',
      byBank: bank => `Створив ${bank}`,
      share: (percent, cashback) => `Ви сплачуєте ${percent} кешбеку ${cashback}`,
      upTo: amount => `Бюджет ${amount}`,
      moreByBanks: 'Решта є у списку кампаній.',
    },
    campaigns: {
      create: 'Нова кампанія',
      anyStatus: 'Будь-який стан',
      banks: 'Банки',
      takePart: (approved, invited) =>
        `${approved} із ${counted('uk', invited, { one: 'банку', few: 'банків', many: 'банків', other: 'банку' })}`,
      noneText:
        'Кампанія визначає, який кешбек отримують клієнти, де й коли. Запрошені банки вирішують, чи брати участь.',
    },
  },
})
