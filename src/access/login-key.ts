/** Decides which logins count as the same (contract/people.md, "Invitations and links"). */

/** Logins that differ only in case, or in full-width and half-width forms (NFKC), have the same key. */
export const loginKey = (login: string): string => login.normalize('NFKC').toLowerCase()
