/**
 * Records when sessions and credentials were last used. A request only notes the use in memory, and a statement stores
 * all uses every 30 seconds, so that no request waits. If a process is killed, the uses since the last statement are lost.
 */
import type { Queryable } from '../../db/database.ts'
import { isUuid } from '../../text/uuid.ts'
import type { ReadToken } from '../tokens.ts'
import { noteSeenCredentials, noteSeenSessions, type SeenSince } from './session-store.ts'

const writeEveryMs = 30_000
/** When this many ids are in memory, uses of further ids are not noted until the next write. */
const maxNoted = 20_000

export type Activity = {
  /** Notes that a request used this token. */
  seen(token: Pick<ReadToken, 'caller' | 'id'>): void
  /** Stores what was noted. */
  write(): Promise<void>
  /** Stores what was noted since the last write, and stops. */
  close(): Promise<void>
}

/** @param onError called when the noted uses could not be stored. Another attempt to store them follows */
export function createActivity(database: Queryable, onError: (error: unknown) => void): Activity {
  const sessions = new Map<string, number>()
  const credentials = new Map<string, number>()
  const note = (notes: Map<string, number>, id: string): void => {
    if (notes.size < maxNoted || notes.has(id)) notes.set(id, performance.now())
  }
  const writeSome = async (notes: Map<string, number>, writer: typeof noteSeenSessions): Promise<void> => {
    if (notes.size === 0) return
    const taken = [...notes]
    notes.clear()
    try {
      await writer(database, sinceOf(taken))
    } catch (error) {
      for (const [id, at] of taken) if (notes.size < maxNoted && !notes.has(id)) notes.set(id, at)
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
      // Tokens that an earlier version issued belong to no session.
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
