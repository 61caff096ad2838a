/** Composes messages and writes them to files. */
import { mkdir, rm, writeFile } from 'node:fs/promises'
import { dirname } from 'node:path'
import type { MailOutcome } from './delivery.ts'
import type { Sender } from './sender.ts'

/** The parts of a message. `to` is one address without a name. In `text`, lines end with a line feed only. */
type Parts = {
  sender: Sender
  to: string
  subject: string
  /** The part of the Message-ID before the "@". Equal ids let a mail program show a repeated message once. */
  id: string
  text: string
  html: string
  /** A picture that the HTML shows as `cid:` with this id. */
  picture?: { filename: string; content: Buffer; contentType: string; cid: string }
}

/** The name after the "@" of the sender, for ids of messages and pictures. */
export const domainOf = ({ address }: Sender): string => address.slice(address.lastIndexOf('@') + 1)

/** Composes a whole message (RFC 5322, ASCII, CRLF) of a text part and an HTML part. */
export async function composeMessage({ sender, to, subject, id, text, html, picture }: Parts): Promise<Buffer> {
  // Loaded with the first e-mail, because many installations send none.
  const { default: MailComposer } = await import('nodemailer/lib/mail-composer')
  const composer = new MailComposer({
    from: sender,
    // The address is passed as an object. nodemailer does not parse it then, so it cannot become several addresses.
    to: { name: '', address: to },
    subject,
    messageId: `<${id}@${domainOf(sender)}>`,
    headers: { 'Auto-Submitted': 'auto-generated' },
    // An e-mail needs CRLF (RFC 2045, 6.8), and the Base64 encoding does not convert line breaks. So they are converted
    // here.
    text: text.replaceAll('\n', '\r\n'),
    html,
    attachments: picture ? [{ ...picture, contentDisposition: 'inline' }] : [],
    newline: '\r\n',
    disableFileAccess: true,
    disableUrlAccess: true,
  })
  return composer.compile().build()
}

export function escapeHtml(text: string): string {
  return text.replace(/[&<>"']/g, character => `&#${character.charCodeAt(0)};`)
}

/**
 * Writes a message to a new file, and makes its folder if it is missing. Only the owner can read what is made here.
 * Never throws.
 */
export async function writeMessage(file: string, compose: () => Promise<Buffer>): Promise<MailOutcome> {
  try {
    await mkdir(dirname(file), { recursive: true, mode: 0o700 })
    await writeFile(file, await compose(), { mode: 0o600, flag: 'wx' })
    return 'sent'
  } catch (error) {
    // If the disk is full, the file has only a part of the message. Remove it, so that nobody takes it for the whole
    // message.
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') await rm(file, { force: true }).catch(() => {})
    return 'failed'
  }
}
