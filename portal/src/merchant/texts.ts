/** Texts of the merchant's pages. */
import { dictionary } from '../i18n/texts.ts'

export const merchantTexts = dictionary({
  en: {
    home: {
      title: (name: string) => name,
      lead: 'What waits for you, and by when',
      nothing: 'Nothing waits for you',
      nothingText: 'Launches, reports and settlements that need you will be listed here.',
    },
  },
  uk: {
    home: {
      title: name => name,
      lead: 'Що чекає на вас і до якого часу',
      nothing: 'Нічого не чекає на вас',
      nothingText: 'Тут з’являться запуски, звіти й розрахунки, що потребують вас.',
    },
  },
})
