/** Texts of the bank's pages. */
import { dictionary } from '../i18n/texts.ts'

export const bankTexts = dictionary({
  en: {
    home: {
      title: (name: string) => name,
      lead: 'Invitations and reports that need you',
      nothing: 'Nothing waits for you',
      nothingText: 'Invitations of merchants and reports to upload will be listed here.',
    },
  },
  uk: {
    home: {
      title: name => name,
      lead: 'Запрошення та звіти, що потребують вас',
      nothing: 'Нічого не чекає на вас',
      nothingText: 'Тут з’являться запрошення торговців і звіти, які треба завантажити.',
    },
  },
})
