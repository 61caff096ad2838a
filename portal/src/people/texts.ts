/** Messages of invitations, which the account's pages and the operator's pages share. */
import { dictionary } from '../i18n/texts.ts'

export const inviteTexts = dictionary({
  en: {
    invite: 'Invite',
    title: (account: string) => `Invite someone to ${account}`,
    login: 'Login',
    email: 'Email',
    emailHint: 'We send the invitation there. Leave it empty to get a link that you pass on yourself',
    role: 'Role',
    invited: 'The invitation is sent.',
    mayBeInvited:
      'The answer got lost, so the person may be invited already. Send the same details again: nobody is invited twice.',
    linkTitle: 'Pass this link on',
    linkText: 'It works once. You won’t be able to see it again.',
    link: 'Link',
  },
  uk: {
    invite: 'Запросити',
    title: account => `Запросити до облікового запису «${account}»`,
    login: 'Логін',
    email: 'Електронна пошта',
    emailHint: 'Ми надішлемо туди запрошення. Якщо залишити порожнім, ви отримаєте посилання й передасте його самі',
    role: 'Роль',
    invited: 'Запрошення надіслано.',
    mayBeInvited:
      'Відповідь не надійшла, тож людину, можливо, уже запрошено. Надішліть ті самі дані ще раз: двічі нікого не запросимо.',
    linkTitle: 'Передайте це посилання',
    linkText: 'Воно спрацює один раз. Переглянути його знову не можна.',
    link: 'Посилання',
  },
})
