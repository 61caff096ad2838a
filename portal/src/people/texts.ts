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
    lostAnswer: {
      title: 'The person may be invited already',
      text: 'The answer got lost. Send the same details again: nobody is invited twice.',
      question:
        'The answer to your first try got lost, and you have changed the form since. If the first details were wrong, look at the list of people afterwards and withdraw that invitation.',
      another: 'Invite all the same',
    },
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
    lostAnswer: {
      title: 'Можливо, людину вже запрошено',
      text: 'Відповідь не надійшла. Надішліть ті самі дані ще раз: двічі нікого не запросимо.',
      question:
        'Відповідь на першу спробу не надійшла, а форму відтоді змінено. Якщо перші дані були хибні, перегляньте потім список людей і відкличте те запрошення.',
      another: 'Усе одно запросити',
    },
    linkTitle: 'Передайте це посилання',
    linkText: 'Воно спрацює один раз. Переглянути його знову не можна.',
    link: 'Посилання',
  },
})
