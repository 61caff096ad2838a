/** Texts of the homes and lists of campaigns that merchants and banks share. */
import { dictionary } from '../i18n/texts.ts'

export const homeTexts = dictionary({
  en: {
    mine: 'Waits for you',
    others: 'Waits for others',
    incomplete: 'There are more open campaigns than are shown here: the list has all of them.',
    you: 'You act',
    by: (when: string) => `by ${when}`,
    noEnd: 'no deadline',
    groups: {
      all: 'All',
      awaitingApproval: 'Being agreed',
      approved: 'Approved',
      active: 'Running',
      finished: 'After the period',
      closed: 'Closed',
    },
    group: 'General status',
  },
  uk: {
    mine: 'Чекає на вас',
    others: 'Чекає на інших',
    incomplete: 'Відкритих кампаній більше, ніж показано тут: усі вони є у списку.',
    you: 'Дієте ви',
    by: when => `до ${when}`,
    noEnd: 'без терміну',
    groups: {
      all: 'Усі',
      awaitingApproval: 'Погоджуються',
      approved: 'Погоджені',
      active: 'Тривають',
      finished: 'Після періоду',
      closed: 'Закриті',
    },
    group: 'Загальний стан',
  },
})
