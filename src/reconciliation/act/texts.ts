/** The texts of a printed settlement act. `Intl` formats money, dates and numbers in the same language. */
import type { DifferenceKind } from '../differences.ts'

export const actLanguages = ['uk', 'en'] as const
export type ActLanguage = (typeof actLanguages)[number]

type Texts = {
  title: string
  draft: string
  number: string
  generated: string
  campaign: string
  period: string
  cashback: string
  share: string
  merchant: string
  bank: string
  code: string
  mcc: string
  domains: string
  id: string
  reports: string
  bankReport: string
  merchantReport: string
  none: string
  file: string
  version: string
  uploaded: string
  lines: string
  amount: string
  totalCashback: string
  hash: string
  matched: string
  differences: string
  differencesSoFar: string
  noDifferences: string
  total: string
  dates: string
  accepted: string
  settled: string
  paid: string
  received: string
  notYet: string
  compensation: string
  totalCompensation: string
  sumNote: string
  banksIncluded: string
  banksMissing: string
  signature: string
  page(page: number, of: number): string
  kinds: Record<DifferenceKind, string>
}

export const actTexts: Record<ActLanguage, Texts> = {
  en: {
    title: 'Settlement act',
    draft: 'Draft: the settlement is not confirmed yet',
    number: 'No.',
    generated: 'Generated',
    campaign: 'Campaign',
    period: 'Period',
    cashback: 'Cashback',
    share: 'Compensated by the merchant',
    merchant: 'Merchant',
    bank: 'Bank',
    code: 'Code in the directory',
    mcc: 'MCC',
    domains: 'Websites',
    id: 'Identifier',
    reports: 'Reports',
    bankReport: 'Bank’s report',
    merchantReport: 'Merchant’s report',
    none: 'none',
    file: 'File',
    version: 'Version',
    uploaded: 'Uploaded',
    lines: 'Lines',
    amount: 'Purchases',
    totalCashback: 'Cashback',
    hash: 'SHA-256',
    matched: 'Matching transactions',
    differences: 'Differences accepted',
    differencesSoFar: 'Differences',
    noDifferences: 'No differences',
    total: 'Total',
    dates: 'Dates',
    accepted: 'Report accepted',
    settled: 'Settlement confirmed',
    paid: 'Marked as paid',
    received: 'Receipt confirmed',
    notYet: 'not yet',
    compensation: 'Compensation to the bank',
    totalCompensation: 'Compensation to all banks',
    sumNote: 'For the merchant. This sheet is not part of an act with a bank.',
    banksIncluded: 'Banks included',
    banksMissing: 'Banks without an amount yet',
    signature: 'Name, position, signature, date',
    page: (page, of) => `Page ${page} of ${of}`,
    kinds: {
      'outside-period': 'Outside the period',
      'unknown-terminal': 'Unknown terminal',
      'amount-out-of-range': 'Amount out of range',
      'wrong-cashback': 'Wrong cashback',
      'repeated-transaction': 'Duplicate transaction',
      'budget-exceeded': 'Over the budget',
      'amount-differs': 'Amounts differ',
      'only-in-bank-report': 'Only in the bank’s report',
      'only-in-merchant-report': 'Only in the merchant’s report',
    },
  },
  uk: {
    title: 'Акт звірки та розрахунку',
    draft: 'Проєкт: розрахунок ще не підтверджено',
    number: '№',
    generated: 'Сформовано',
    campaign: 'Кампанія',
    period: 'Період',
    cashback: 'Кешбек',
    share: 'Компенсує торговець',
    merchant: 'Торговець',
    bank: 'Банк',
    code: 'Код у довіднику',
    mcc: 'MCC',
    domains: 'Сайти',
    id: 'Ідентифікатор',
    reports: 'Звіти',
    bankReport: 'Звіт банку',
    merchantReport: 'Звіт торговця',
    none: 'немає',
    file: 'Файл',
    version: 'Версія',
    uploaded: 'Завантажено',
    lines: 'Рядків',
    amount: 'Покупки',
    totalCashback: 'Кешбек',
    hash: 'SHA-256',
    matched: 'Операції, що збігаються',
    differences: 'Прийняті розбіжності',
    differencesSoFar: 'Розбіжності',
    noDifferences: 'Розбіжностей немає',
    total: 'Разом',
    dates: 'Дати',
    accepted: 'Звіт прийнято',
    settled: 'Розрахунок підтверджено',
    paid: 'Позначено сплаченим',
    received: 'Надходження підтверджено',
    notYet: 'ще ні',
    compensation: 'Компенсація банку',
    totalCompensation: 'Компенсація всім банкам',
    sumNote: 'Для торговця. Цей аркуш не є частиною акта з банком.',
    banksIncluded: 'Банків ураховано',
    banksMissing: 'Банків, суми яких ще немає',
    signature: 'Прізвище, посада, підпис, дата',
    page: (page, of) => `Сторінка ${page} з ${of}`,
    kinds: {
      'outside-period': 'Поза періодом',
      'unknown-terminal': 'Невідомий термінал',
      'amount-out-of-range': 'Сума поза межами',
      'wrong-cashback': 'Неправильний кешбек',
      'repeated-transaction': 'Операція повторюється',
      'budget-exceeded': 'Понад бюджет',
      'amount-differs': 'Суми різняться',
      'only-in-bank-report': 'Лише у звіті банку',
      'only-in-merchant-report': 'Лише у звіті торговця',
    },
  },
}
