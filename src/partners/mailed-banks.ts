/** The banks whose customers get the QR code by e-mail, and whether a process can send such mails. */
import type { Queryable } from '../db/database.ts'

/**
 * Whether a process can deliver QR codes by e-mail. A sandbox without a mail server writes the mails to a folder; in live
 * mode a process without a mail server does not start while a bank needs it.
 */
export const canMailQrCodes = ({ mode, smtpUrl }: { mode: 'sandbox' | 'live'; smtpUrl: string | null }): boolean =>
  mode === 'sandbox' || smtpUrl !== null

/** The codes of the active banks that deliver by e-mail (`qr_email`), in order. */
export async function findMailedBanks(database: Queryable): Promise<string[]> {
  const banks = await database.query<{ code: string }>(
    `select code from banks where esim_delivery_mode = 'qr_email' and status = 'active' order by code`,
  )
  return banks.map(({ code }) => code)
}
