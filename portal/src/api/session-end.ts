/** Where every call tells that a session has ended: the platform has answered 401. */
let listener: () => void = () => {}

/** @param told called at each 401: whoever was logged in is not any more */
export function onSessionEnd(told: () => void): void {
  listener = told
}

export const endSession = (): void => listener()
