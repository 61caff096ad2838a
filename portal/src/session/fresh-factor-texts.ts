/** Texts of the question for a fresh factor. */
import { dictionary } from '../i18n/texts.ts'

export const freshFactorTexts = dictionary({
  en: {
    title: 'Confirm it’s you',
    code: 'Code',
    codeHint: 'Six digits from your authenticator app, or a recovery code',
    password: 'Your password',
    showPassword: 'Show the password',
    submit: 'Continue',
    wrong: 'This is wrong, or the code was already used.',
  },
  uk: {
    title: 'Підтвердьте, що це ви',
    code: 'Код',
    codeHint: 'Шість цифр із застосунку автентифікації або резервний код',
    password: 'Ваш пароль',
    showPassword: 'Показати пароль',
    submit: 'Продовжити',
    wrong: 'Неправильно, або код уже використано.',
  },
})
