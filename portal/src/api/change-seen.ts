import { isApiError } from './errors.ts'

/** What is stored after a change: with the change, or somebody else's newer version without it. */
type Outcome<Sent, Read> = { isSaved: true; stored: Sent | Read } | { isSaved: false; stored: Read }

/**
 * Makes a change of the version that the person has seen (`If-Match`). The platform refuses it when there is a newer version (412).
 * Then this reads again, because the newer version may be the person's own: an earlier try has made the change, and its answer got lost.
 *
 * @param input.send sends the change with the version that the person has seen
 * @param input.read reads what is stored now
 * @param input.isSavedIn whether that has the change already
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
