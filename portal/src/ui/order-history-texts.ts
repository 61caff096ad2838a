/** The history of an eSIM order, for the bank and for the operator's staff. */
import { counted, dictionary } from '../i18n/texts.ts'

export const orderHistoryTexts = dictionary({
  en: {
    title: 'History',
    events: {
      'profile-imported': 'Profile imported',
      reserved: 'Reserved',
      confirmed: 'Sold',
      cancelled: 'Cancelled by the bank',
      expired: 'Reservation expired',
      'confirm-repeated': 'Activation data shown again',
      'qr-read': 'QR code shown',
      'email-sending': 'E-mail is being sent',
      'email-sent': 'E-mail sent',
      'email-failed': 'E-mail failed',
      'email-unknown': 'E-mail may have arrived',
      stated: 'On a daily statement',
    },
    bySystem: 'the bank’s system',
    times: (count: number) => counted('en', count, { one: 'time', other: 'times' }),
  },
  uk: {
    title: 'Історія',
    events: {
      'profile-imported': 'Профіль завантажено',
      reserved: 'Зарезервовано',
      confirmed: 'Продано',
      cancelled: 'Скасовано банком',
      expired: 'Термін резерву минув',
      'confirm-repeated': 'Дані активації показано повторно',
      'qr-read': 'Показано QR-код',
      'email-sending': 'Лист надсилається',
      'email-sent': 'Лист надіслано',
      'email-failed': 'Лист не надіслано',
      'email-unknown': 'Лист міг дійти',
      stated: 'Внесено до денної виписки',
    },
    bySystem: 'система банку',
    times: (count: number) => counted('uk', count, { one: 'раз', few: 'рази', many: 'разів', other: 'разу' }),
  },
})
