/** Texts that merchants, banks and the operator share about campaigns. */
import { dictionary } from '../i18n/texts.ts'

export const campaignTexts = dictionary({
  en: {
    life: 'The campaign’s life',
    starts: (day: string) => `Starts ${day}`,
    ends: (day: string) => `Ends ${day}`,
  },
  uk: {
    life: 'Життя кампанії',
    starts: day => `Початок ${day}`,
    ends: day => `Кінець ${day}`,
  },
})
