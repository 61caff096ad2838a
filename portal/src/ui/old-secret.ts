/** How long the previous secret of credentials still works. */

/**
 * When the previous secret stops working; null: it does not work any more. Compared with real time and not with the
 * sandbox clock, because access never follows the sandbox clock.
 */
export const oldSecretUntil = ({ previousValidUntil }: { previousValidUntil: string | null }): string | null =>
  previousValidUntil !== null && Date.parse(previousValidUntil) > Date.now() ? previousValidUntil : null
