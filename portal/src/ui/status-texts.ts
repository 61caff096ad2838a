/** Every status in people's words. A test holds the lists to those of the platform. */
import { dictionary } from '../i18n/texts.ts'

export const statusTexts = dictionary({
  en: {
    campaign: {
      awaitingBankApproval: 'Banks decide',
      awaitingMerchantApproval: 'Ready to launch',
      approved: 'Approved',
      active: 'Running',
      awaitingCompensationConfirmation: 'Reconciliation',
      awaitingCompensationPayment: 'Payment awaited',
      paymentConfirmed: 'Paid',
      compensationReceived: 'Payment received',
      completed: 'Completed',
      declined: 'Declined',
      expired: 'Expired',
      deleted: 'Deleted',
    },
    participation: {
      pending: 'Decision awaited',
      approved: 'Takes part',
      declined: 'Declined',
      expired: 'Not in time',
    },
    reporting: {
      awaitingBankReconciliation: 'Bank’s report awaited',
      awaitingMerchantReconciliationConfirmation: 'Merchant’s answer awaited',
      awaitingUpdatedBankReconciliation: 'Bank’s new report awaited',
      awaitingCompensationConfirmation: 'Settlement awaited',
      settled: 'Settled',
      acknowledged: 'Money received',
    },
    order: {
      reserved: 'Reserved',
      confirmed: 'Sold',
      cancelled: 'Cancelled',
      expired: 'Expired',
      withdrawn: 'Withdrawn',
    },
    partner: { active: 'Active', suspended: 'Suspended', withdrawn: 'Withdrawn' },
    access: { active: 'Active', disabled: 'Switched off', revoked: 'Revoked', expiring: 'Being replaced' },
  },
  uk: {
    campaign: {
      awaitingBankApproval: 'Рішення банків',
      awaitingMerchantApproval: 'Готова до запуску',
      approved: 'Погоджена',
      active: 'Триває',
      awaitingCompensationConfirmation: 'Звірка',
      awaitingCompensationPayment: 'Очікує оплати',
      paymentConfirmed: 'Оплачена',
      compensationReceived: 'Оплату отримано',
      completed: 'Завершена',
      declined: 'Відхилена',
      expired: 'Прострочена',
      deleted: 'Видалена',
    },
    participation: { pending: 'Очікує рішення', approved: 'Бере участь', declined: 'Відмова', expired: 'Не встиг' },
    reporting: {
      awaitingBankReconciliation: 'Очікує звіту банку',
      awaitingMerchantReconciliationConfirmation: 'Очікує відповіді торговця',
      awaitingUpdatedBankReconciliation: 'Очікує нового звіту банку',
      awaitingCompensationConfirmation: 'Очікує розрахунку',
      settled: 'Розраховано',
      acknowledged: 'Гроші отримано',
    },
    order: {
      reserved: 'Зарезервовано',
      confirmed: 'Продано',
      cancelled: 'Скасовано',
      expired: 'Прострочено',
      withdrawn: 'Вилучено',
    },
    partner: { active: 'Активний', suspended: 'Призупинений', withdrawn: 'Вилучений' },
    access: { active: 'Діє', disabled: 'Вимкнено', revoked: 'Відкликано', expiring: 'Замінюється' },
  },
})

type Statuses = (typeof statusTexts)['en']
export type StatusKind = keyof Statuses
export type StatusOf<Kind extends StatusKind> = Extract<keyof Statuses[Kind], string>
