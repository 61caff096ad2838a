/**
 * Lets the API client tell the portal that the session has ended (the platform answered 401, or another tab has logged out),
 * or that the account requires a second factor.
 */
let listener: () => void = () => {}

/** @param onEnd called when the person is no longer logged in */
export function onSessionEnd(onEnd: () => void): void {
  listener = onEnd
}

export const endSession = (): void => listener()

let factorListener: () => void = () => {}

/**
 * @param onEnd called when a read is refused because the person must first set up a second factor. The session itself has
 *   not ended
 */
export function onFactorNeeded(onEnd: () => void): void {
  factorListener = onEnd
}

export const needFactor = (): void => factorListener()
