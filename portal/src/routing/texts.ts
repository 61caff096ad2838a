/** Messages of the navigation. */
import { dictionary } from '../i18n/texts.ts'

export const routingTexts = dictionary({
  en: {
    /** Names of the pages in the navigation. */
    pages: {
      home: 'Home',
      campaigns: 'Campaigns',
      esimSales: 'eSIM sales',
      esimOrders: 'eSIM orders',
      statements: 'Statements',
      esimStock: 'eSIM tariffs',
      partners: 'Partners',
      access: 'Access',
      mobileOperators: 'Mobile operators',
      stockDesk: 'Stock',
      customers: 'Customers',
      audit: 'Data checks',
      people: 'People',
      ownCredentials: 'Credentials',
      security: 'Security',
      webhooks: 'Webhooks',
      events: 'Events',
      securityLog: 'Security log',
      auditLog: 'Audit log',
      partnerWebhooks: 'Partners’ webhooks',
    },
  },
  uk: {
    pages: {
      home: 'Головна',
      campaigns: 'Кампанії',
      esimSales: 'Продаж eSIM',
      esimOrders: 'Замовлення eSIM',
      statements: 'Виписки',
      esimStock: 'Тарифи eSIM',
      partners: 'Партнери',
      access: 'Доступ',
      mobileOperators: 'Мобільні оператори',
      stockDesk: 'Запаси eSIM',
      customers: 'Клієнти',
      audit: 'Перевірка даних',
      people: 'Люди',
      ownCredentials: 'Ключі доступу',
      security: 'Безпека',
      webhooks: 'Вебхуки',
      events: 'Події',
      securityLog: 'Журнал безпеки',
      auditLog: 'Журнал дій',
      partnerWebhooks: 'Вебхуки партнерів',
    },
  },
})
