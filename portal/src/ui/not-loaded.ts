/** Code of the portal that did not come: the connection is gone, or a new version has replaced the file. */

export class NotLoaded extends Error {
  constructor(cause: unknown) {
    super('A part of the portal was not loaded', { cause })
    this.name = 'NotLoaded'
  }
}

/** For every `import()`: a failure becomes a NotLoaded, of which the fault page says what to do. */
export const part = <Module>(code: Promise<Module>): Promise<Module> =>
  code.catch(error => {
    throw new NotLoaded(error)
  })
