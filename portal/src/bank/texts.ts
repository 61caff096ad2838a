/** Texts of the bank's home, its list of campaigns and the creation of its own ones. */
import { dictionary } from '../i18n/texts.ts'

export const bankTexts = dictionary({
  en: {
    home: {
      lead: 'What waits for you, and by when',
      counts: 'Campaigns',
      decisions: 'Your decisions',
      nothing: 'Nothing waits for you',
      nothingText: 'Invitations of merchants and reports that need you will be listed here.',
      merchantActs: (merchant: string) => `${merchant} acts`,
      detail: (campaign: string, merchant: string) => `${campaign} · ${merchant}`,
      task: {
        'decide-invitation': 'Decide whether to take part',
        'launch-possible': (merchant: string) => `${merchant} launches it`,
        'upload-report': 'Upload your report',
        'answer-report': (merchant: string) => `${merchant} looks at your report`,
        'confirm-settlement': (merchant: string) => `${merchant} confirms the settlement`,
        'mark-paid': (merchant: string) => `${merchant} pays the compensation`,
        'acknowledge-compensation': 'Confirm that the money has arrived',
      },
      startOwn: 'Start your campaign',
      otherwise: {
        'participation-expires': 'Otherwise it goes on or ends without your bank',
        'campaign-expires': 'Otherwise it ends without having started',
        stays: 'Until then everything waits',
      },
      viewerLead: 'eSIM sales of your bank',
      viewer: 'Your account looks at eSIM sales',
      viewerText: 'Campaigns are for administrators and editors of your bank. Ask one of them if you need to see them.',
      toSales: 'To the sales',
    },
    area: {
      title: 'Campaigns',
      text: 'They are for administrators and editors of your bank. Your account looks at eSIM sales.',
    },
    campaigns: {
      create: 'New campaign',
      decision: 'Your decision',
      anyDecision: 'Any decision of yours',
      author: 'Created by',
      anyAuthor: 'Created by anybody',
      authors: { retailer: 'Created by the merchant', bank: 'Created by your bank' },
      merchant: 'Merchant',
      noneText:
        'Campaigns to which merchants invite your bank are listed here, and those that you create for a merchant.',
    },
    newCampaign: {
      title: 'New campaign',
      lead: 'For a merchant, with your bank alone. It starts once you confirm it on its page.',
      created: 'The campaign is created',
      cancel: 'Cancel',
    },
  },
  uk: {
    home: {
      lead: 'Що чекає на вас і до якого часу',
      counts: 'Кампанії',
      decisions: 'Ваші рішення',
      nothing: 'Нічого не чекає на вас',
      nothingText: 'Тут з’являться запрошення торговців і звіти, що потребують вас.',
      merchantActs: merchant => `Діє ${merchant}`,
      detail: (campaign, merchant) => `${campaign} · ${merchant}`,
      task: {
        'decide-invitation': 'Вирішіть, чи брати участь',
        'launch-possible': merchant => `${merchant} запускає її`,
        'upload-report': 'Завантажте звіт',
        'answer-report': merchant => `${merchant} переглядає ваш звіт`,
        'confirm-settlement': merchant => `${merchant} підтверджує розрахунок`,
        'mark-paid': merchant => `${merchant} сплачує компенсацію`,
        'acknowledge-compensation': 'Підтвердьте надходження грошей',
      },
      startOwn: 'Розпочніть свою кампанію',
      otherwise: {
        'participation-expires': 'Інакше вона триватиме або завершиться без вашого банку',
        'campaign-expires': 'Інакше вона завершиться, не розпочавшись',
        stays: 'Доти все чекає',
      },
      viewerLead: 'Продаж eSIM вашого банку',
      viewer: 'Ваш обліковий запис показує лише продаж eSIM',
      viewerText:
        'Кампанії доступні адміністраторам і редакторам вашого банку. Зверніться до них, якщо вам це потрібно.',
      toSales: 'До продажу',
    },
    area: {
      title: 'Кампанії',
      text: 'Вони доступні адміністраторам і редакторам вашого банку. Ваш обліковий запис показує лише продаж eSIM.',
    },
    campaigns: {
      create: 'Нова кампанія',
      decision: 'Ваше рішення',
      anyDecision: 'Будь-яке ваше рішення',
      author: 'Хто створив',
      anyAuthor: 'Створив будь-хто',
      authors: { retailer: 'Створив торговець', bank: 'Створив ваш банк' },
      merchant: 'Торговець',
      noneText: 'Тут з’являться кампанії, до яких торговці запросять ваш банк, і ті, що їх ви створите для торговця.',
    },
    newCampaign: {
      title: 'Нова кампанія',
      lead: 'Для торговця, лише з вашим банком. Почнеться, коли ви підтвердите її на її сторінці.',
      created: 'Кампанію створено',
      cancel: 'Скасувати',
    },
  },
})
