/** Names of the kinds of accounts and of the roles of people, and what fields for passwords share. */
import { dictionary } from '../i18n/texts.ts'
import type { Role } from './session.ts'

export const sessionTexts = dictionary({
  en: {
    showPassword: 'Show the password',
    accountType: { retailer: 'Merchant', bank: 'Bank', platform: 'Platform' },
    role: {
      admin_user: 'Administrator',
      editor: 'Editor',
      viewer: 'Viewer',
      gateway: 'System',
      ADMIN: 'Administrator',
      EDITOR: 'Editor',
      VIEWER: 'Viewer',
      admin: 'Administrator',
    } satisfies Record<Role, string>,
  },
  uk: {
    showPassword: 'Показати пароль',
    accountType: { retailer: 'Торговець', bank: 'Банк', platform: 'Платформа' },
    role: {
      admin_user: 'Адміністратор',
      editor: 'Редактор',
      viewer: 'Перегляд',
      gateway: 'Система',
      ADMIN: 'Адміністратор',
      EDITOR: 'Редактор',
      VIEWER: 'Перегляд',
      admin: 'Адміністратор',
    },
  },
})
