import { isApiError } from './errors.ts'

/** What is stored after an attempt to save: `isSaved` is false when it is somebody else's newer version, without the change. */
type Outcome<Sent, Read> = { isSaved: true; stored: Sent | Read } | { isSaved: false; stored: Read }

/**
 * Changes the version that the person has seen (`If-Match`). The platform refuses the change when there is a newer version (412).
 * Then this function reads the newer version. An earlier try may have saved the change although its answer got lost.
 *
 * @param input.send sends the change with the version that the person has seen
 * @param input.read reads what is stored now
 * @param input.isSavedIn whether the newer version contains the change
 */
export async function changeSeen<Sent, Read>(input: {
  send: () => Promise<Sent>
  read: () => Promise<Read>
  isSavedIn: (newer: Read) => boolean
}): Promise<Outcome<Sent, Read>> {
  try {
    return { isSaved: true, stored: await input.send() }
  } catch (error) {
    if (!isApiError(error, 412)) throw error
  }
  const stored = await input.read()
  return { isSaved: input.isSavedIn(stored), stored }
}
