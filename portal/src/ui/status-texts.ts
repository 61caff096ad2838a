/** Names of every status. A test compares the lists with the platform's. */
import { dictionary } from '../i18n/texts.ts'

export const statusTexts = dictionary({
  en: {
    campaign: {
      awaitingBankApproval: 'Awaiting decisions',
      awaitingMerchantApproval: 'Ready to launch',
      approved: 'Approved',
      active: 'Running',
      awaitingCompensationConfirmation: 'Reconciliation',
      awaitingCompensationPayment: 'Awaiting payment',
      paymentConfirmed: 'Paid',
      compensationReceived: 'Payment received',
      completed: 'Completed',
      declined: 'Declined',
      expired: 'Expired',
      deleted: 'Deleted',
    },
    participation: {
      pending: 'Awaiting decision',
      approved: 'Participating',
      declined: 'Declined',
      expired: 'Missed the deadline',
    },
    reporting: {
      awaitingBankReconciliation: 'Awaiting bank report',
      awaitingMerchantReconciliationConfirmation: 'Awaiting merchant review',
      awaitingUpdatedBankReconciliation: 'Awaiting updated report',
      awaitingCompensationConfirmation: 'Awaiting settlement',
      settled: 'Settled',
      acknowledged: 'Payment received',
    },
    order: {
      reserved: 'Reserved',
      confirmed: 'Sold',
      cancelled: 'Cancelled',
      expired: 'Expired',
      withdrawn: 'Withdrawn',
    },
    partner: { active: 'Active', suspended: 'Suspended', withdrawn: 'Withdrawn' },
    access: { invited: 'Invited', active: 'Active', disabled: 'Disabled', revoked: 'Revoked', expiring: 'Expiring' },
    endpoint: { enabled: 'Enabled', failing: 'Failing', disabled: 'Disabled' },
    delivery: { pending: 'Waiting', delivered: 'Delivered', failed: 'Failed', skipped: 'Skipped' },
  },
  uk: {
    campaign: {
      awaitingBankApproval: 'Очікує рішень',
      awaitingMerchantApproval: 'Готова до запуску',
      approved: 'Погоджена',
      active: 'Триває',
      awaitingCompensationConfirmation: 'Звірка',
      awaitingCompensationPayment: 'Очікує оплати',
      paymentConfirmed: 'Оплачена',
      compensationReceived: 'Оплату отримано',
      completed: 'Завершена',
      declined: 'Відхилена',
      expired: 'Не відбулася',
      deleted: 'Видалена',
    },
    participation: {
      pending: 'Очікує рішення',
      approved: 'Бере участь',
      declined: 'Відмовився',
      expired: 'Пропущено термін',
    },
    reporting: {
      awaitingBankReconciliation: 'Очікує звіту банку',
      awaitingMerchantReconciliationConfirmation: 'Перевірка торговцем',
      awaitingUpdatedBankReconciliation: 'Очікує оновленого звіту',
      awaitingCompensationConfirmation: 'Очікує розрахунку',
      settled: 'Розраховано',
      acknowledged: 'Оплату отримано',
    },
    order: {
      reserved: 'Зарезервовано',
      confirmed: 'Продано',
      cancelled: 'Скасовано',
      expired: 'Час вичерпано',
      withdrawn: 'Вилучено',
    },
    partner: { active: 'Активний', suspended: 'Призупинений', withdrawn: 'Вилучений' },
    access: {
      invited: 'Запрошено',
      active: 'Діє',
      disabled: 'Вимкнено',
      revoked: 'Відкликано',
      expiring: 'Скоро завершиться',
    },
    endpoint: { enabled: 'Увімкнено', failing: 'Збоїть', disabled: 'Вимкнено' },
    delivery: { pending: 'Очікує', delivered: 'Доставлено', failed: 'Не вдалося', skipped: 'Пропущено' },
  },
})

type Statuses = (typeof statusTexts)['en']
export type StatusKind = keyof Statuses
export type StatusOf<Kind extends StatusKind> = Extract<keyof Statuses[Kind], string>
