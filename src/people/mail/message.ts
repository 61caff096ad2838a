/** Builds a mail as a message (RFC 5322): plain text and HTML that loads nothing from other servers. */
import { composeMessage, escapeHtml } from '../../mail/message.ts'
import type { Sender } from '../../mail/sender.ts'
import type { Envelope } from './mails.ts'
import { type MailText, mailText } from './texts.ts'

/** Composes the message of a mail. */
export async function composePeopleMail(
  { to, language, mail, host }: Envelope,
  { mailId, sender }: { mailId: string; sender: Sender },
): Promise<Buffer> {
  const text = mailText(mail, language, host)
  return composeMessage({
    sender,
    to,
    subject: oneLine(text.subject),
    id: `people.${mailId}`,
    text: plainPart(text),
    html: htmlPart(text, language),
  })
}

const oneLine = (text: string): string => text.replace(/\s+/g, ' ')

const plainPart = ({ before, link, after }: MailText): string =>
  `${[...before, ...(link === null ? [] : [link]), ...after].join('\n\n')}\n`

function htmlPart({ subject, before, link, after }: MailText, language: string): string {
  const paragraphs = [
    ...before.map(escapeHtml),
    ...(link === null ? [] : [`<a href="${escapeHtml(link)}" style="word-break: break-all">${escapeHtml(link)}</a>`]),
    ...after.map(escapeHtml),
  ]
  return `<!doctype html>
<html lang="${language}">
<head><meta charset="utf-8"><title>${escapeHtml(subject)}</title></head>
<body style="font-family: sans-serif; font-size: 16px; line-height: 1.5">
${paragraphs.map(paragraph => `<p>${paragraph}</p>`).join('\n')}
</body>
</html>
`
}
