/**
 * Handles code of the portal that could not be loaded: the connection is lost, or a new version has replaced the file.
 * Only the frame can tell which (`app/part-failed.ts`).
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
