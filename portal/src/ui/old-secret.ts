/** How long the previous secret of credentials still works. */

/**
 * The instant at which the previous secret stops working; null if it does not work any more. The real time counts:
 * secrets and logins never follow the sandbox clock.
 */
export const oldSecretUntil = ({ previousValidUntil }: { previousValidUntil: string | null }): string | null =>
  previousValidUntil !== null && Date.parse(previousValidUntil) > Date.now() ? previousValidUntil : null
