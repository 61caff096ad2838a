/** What all messages share: text inside HTML, and writing a message to a file. */
import { mkdir, rm, writeFile } from 'node:fs/promises'
import { dirname } from 'node:path'
import type { MailOutcome } from './delivery.ts'

export function escapeHtml(text: string): string {
  return text.replace(/[&<>"']/g, character => `&#${character.charCodeAt(0)};`)
}

/** Writes a message into a folder, which is made when missing. Only the owner can read both. Never throws. */
export async function writeMessage(file: string, compose: () => Promise<Buffer>): Promise<MailOutcome> {
  try {
    await mkdir(dirname(file), { recursive: true, mode: 0o700 })
    await writeFile(file, await compose(), { mode: 0o600, flag: 'wx' })
    return 'sent'
  } catch (error) {
    // On a full disk only a part of the message was written. Remove it, so that nobody takes it for the whole message.
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') await rm(file, { force: true }).catch(() => {})
    return 'failed'
  }
}
