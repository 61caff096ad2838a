/** Logins of systems. */

/**
 * Whether a login is the client id of a system (`makeClientId` in `src/access/secrets.ts`). It is not shown, because
 * nobody can remember it.
 */
export const isSystem = (login: string): boolean => login.startsWith('pk_')
