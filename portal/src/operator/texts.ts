/** Texts of the operator's pages. */
import { dictionary } from '../i18n/texts.ts'

export const operatorTexts = dictionary({
  en: {
    home: {
      title: (name: string) => name,
      lead: 'The shop at a glance',
      nothing: 'Everything is in order',
      nothingText: 'Low stock and faults will be listed here.',
    },
  },
  uk: {
    home: {
      title: name => name,
      lead: 'Стан крамниці',
      nothing: 'Усе гаразд',
      nothingText: 'Тут з’являться низькі запаси та збої.',
    },
  },
})
