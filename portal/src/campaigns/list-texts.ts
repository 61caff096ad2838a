/** Texts of the lists of campaigns, a merchant's and a bank's. */
import { dictionary } from '../i18n/texts.ts'

export const listTexts = dictionary({
  en: {
    title: 'Campaigns',
    search: 'Find by name',
    dates: 'Begins and ends within',
    clear: 'Clear filters',
    name: 'Campaign',
    status: 'Status',
    period: 'Period',
    percentage: 'Cashback',
    created: 'Created',
    none: 'No campaigns yet',
    notFound: 'No campaign fits the filters',
  },
  uk: {
    title: 'Кампанії',
    search: 'Пошук за назвою',
    dates: 'Починається й закінчується в межах',
    clear: 'Скинути фільтри',
    name: 'Кампанія',
    status: 'Стан',
    period: 'Період',
    percentage: 'Кешбек',
    created: 'Створено',
    none: 'Кампаній ще немає',
    notFound: 'Жодна кампанія не відповідає фільтрам',
  },
})
