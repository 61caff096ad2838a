/** Every call reports here that a session has ended, which the platform says with a 401. */
let listener: () => void = () => {}

/** @param told called at each 401: the person is no longer logged in */
export function onSessionEnd(told: () => void): void {
  listener = told
}

export const endSession = (): void => listener()

let factorListener: () => void = () => {}

/** @param told called when a read is refused until a second factor is set up */
export function onFactorNeeded(told: () => void): void {
  factorListener = told
}

export const needFactor = (): void => factorListener()
