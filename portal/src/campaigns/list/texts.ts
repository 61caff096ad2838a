/** Messages of the lists of campaigns of merchants and banks. */
import { dictionary } from '../../i18n/texts.ts'

export const listTexts = dictionary({
  en: {
    title: 'Campaigns',
    search: 'Find by name',
    dates: 'Starts and ends between',
    clear: 'Clear filters',
    name: 'Campaign',
    status: 'Status',
    period: 'Period',
    percentage: 'Cashback',
    created: 'Created',
    none: 'No campaigns yet',
    noMatch: 'No campaigns found',
    noMatchText: 'No campaign matches these filters.',
  },
  uk: {
    title: 'Кампанії',
    search: 'Пошук за назвою',
    dates: 'Початок і кінець у проміжку',
    clear: 'Скинути фільтри',
    name: 'Кампанія',
    status: 'Статус',
    period: 'Період',
    percentage: 'Кешбек',
    created: 'Створено',
    none: 'Кампаній ще немає',
    noMatch: 'Кампаній не знайдено',
    noMatchText: 'Жодна кампанія не відповідає цим фільтрам.',
  },
})
