/**
 * When sessions and credentials were used last. A request only notes it in memory; a statement from time to time writes it down, so that
 * no request waits for it. A process that dies forgets the last seconds of it.
 */
import type { Queryable } from '../../db/database.ts'
import { isUuid } from '../../text/uuid.ts'
import type { ReadToken } from '../tokens.ts'
import { noteSeenCredentials, noteSeenSessions, type SeenSince } from './session-store.ts'

const writeEveryMs = 30_000
/** Beyond it the others are noted with a later request. */
const mostNoted = 20_000

export type Activity = {
  /** A request came with this token. */
  seen(token: Pick<ReadToken, 'caller' | 'id'>): void
  /** Writes down what was seen. */
  write(): Promise<void>
  /** Writes down what is left, and ends. */
  close(): Promise<void>
}

/** @param onError told when it could not be written down; it is tried again */
export function createActivity(database: Queryable, onError: (error: unknown) => void): Activity {
  const sessions = new Map<string, number>()
  const credentials = new Map<string, number>()
  const note = (notes: Map<string, number>, id: string): void => {
    if (notes.size < mostNoted || notes.has(id)) notes.set(id, performance.now())
  }
  const writeSome = async (notes: Map<string, number>, writer: typeof noteSeenSessions): Promise<void> => {
    if (notes.size === 0) return
    const taken = [...notes]
    notes.clear()
    try {
      await writer(database, sinceOf(taken))
    } catch (error) {
      for (const [id, at] of taken) if (!notes.has(id)) notes.set(id, at)
      throw error
    }
  }
  const write = async () => {
    await writeSome(sessions, noteSeenSessions)
    await writeSome(credentials, noteSeenCredentials)
  }
  const timer = setInterval(() => void write().catch(onError), writeEveryMs)
  return {
    seen({ caller, id }) {
      if (caller.userType === 'gateway_user') note(credentials, caller.subject)
      // Tokens of the version before are no sessions.
      else if (isUuid(id)) note(sessions, id)
    },
    write,
    async close() {
      clearInterval(timer)
      await write().catch(onError)
    },
  }
}

function sinceOf(seen: [id: string, atMs: number][]): SeenSince {
  const nowMs = performance.now()
  return { ids: seen.map(([id]) => id), secondsAgo: seen.map(([, atMs]) => (nowMs - atMs) / 1000) }
}
