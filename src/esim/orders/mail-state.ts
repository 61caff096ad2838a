/** The state of the e-mail of a confirm, as it is stored and as it is shown (contract/esim.md, "The e-mail"). */
export const mailStates = ['sending', 'sent', 'unknown', 'failed'] as const
export type MailState = (typeof mailStates)[number]

/** The states that are shown. */
export const shownMailStates = ['sent', 'unknown', 'failed'] as const satisfies MailState[]
type ShownMailState = (typeof shownMailStates)[number]

/** The state to show. `sending` is shown as `unknown`: if sending was interrupted, the e-mail may have arrived. */
export const shownMail = (mail: MailState): ShownMailState => (mail === 'sending' ? 'unknown' : mail)

/** SQL for `shownMail`. @param mail SQL for the stored state */
export const shownMailSql = (mail: string): string => `case ${mail} when 'sending' then 'unknown' else ${mail} end`
