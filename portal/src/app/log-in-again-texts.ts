/** Texts of the question before a new login in a session that has not ended yet. */
import { dictionary } from '../i18n/texts.ts'

export const logInAgainTexts = dictionary({
  en: {
    lost: 'Campaign forms keep what you entered. Other input that you have not saved is lost, here and in your other tabs, and running uploads are stopped.',
  },
  uk: {
    lost: 'Форми кампаній збережуть введене. Решту незбереженого буде втрачено, тут і в інших вкладках, а завантаження, що тривають, зупиняться.',
  },
})
