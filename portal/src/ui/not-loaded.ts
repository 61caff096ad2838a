/**
 * Handles code of the portal that could not be loaded, because the connection is lost or a new version has replaced the
 * file. `app/part-failed.ts` finds out which of the two it is.
 */

export class NotLoaded extends Error {
  constructor(cause: unknown) {
    super('A part of the portal was not loaded', { cause })
    this.name = 'NotLoaded'
  }
}

/**
 * Wrap every `import()` in this function. It turns a failure into a NotLoaded, which the error page handles in a
 * special way.
 */
export const part = <Module>(code: Promise<Module>): Promise<Module> =>
  code.catch(error => {
    throw new NotLoaded(error)
  })
