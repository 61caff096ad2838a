/** Texts of the dialog that asks for the second factor again. */
import { dictionary } from '../i18n/texts.ts'

export const freshFactorTexts = dictionary({
  en: {
    title: 'Confirm it’s you',
    reason: 'To make this change, confirm it again: you last did so more than 15 minutes ago.',
    code: 'Code',
    codeHint: 'Six digits from your authenticator app, or a recovery code. Each works once',
    password: 'Your password',
    submit: 'Continue',
    wrong: 'This isn’t right. Check it and try again.',
  },
  uk: {
    title: 'Підтвердьте, що це ви',
    reason: 'Щоб зробити цю зміну, підтвердьте це ще раз: востаннє ви робили це понад 15 хвилин тому.',
    code: 'Код',
    codeHint: 'Шість цифр із застосунку автентифікації або резервний код. Кожен діє один раз',
    password: 'Ваш пароль',
    submit: 'Продовжити',
    wrong: 'Неправильно. Перевірте введене та спробуйте ще раз.',
  },
})
