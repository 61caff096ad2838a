/** SQL for the entries of a history that are about one bank. An index finds them. */

/** The order of the entries in the index, newest first. */
export const newestAboutBank = 'h.cashback_id desc, h.bank_id desc, h.history_id desc'

/**
 * SQL for whether the entry `h` is about a bank of a campaign. Use it with the order `newestAboutBank`, so that no
 * other entries are read.
 *
 * @param before only entries before this one; left out: all
 */
export function isAboutBank(cashbackId: string, bankId: string, before = `${Number.MAX_SAFE_INTEGER}`): string {
  return `(h.cashback_id, h.bank_id, h.history_id) < (${cashbackId}, ${bankId}, ${before})
    and (h.cashback_id, h.bank_id) >= (${cashbackId}, ${bankId})`
}
