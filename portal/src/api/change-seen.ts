import { isApiError } from './errors.ts'

/**
 * What is stored after an attempt to save. `isSaved` is false if somebody else's version is stored, which does not
 * contain the change.
 */
type Outcome<Sent, Read> = { isSaved: true; stored: Sent | Read } | { isSaved: false; stored: Read }

/**
 * Changes the version that the person has seen (`If-Match`). If there is a newer version, the platform refuses the
 * change (412), and this function reads the newer version. That version contains the change if an earlier try was saved
 * but its answer got lost.
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
