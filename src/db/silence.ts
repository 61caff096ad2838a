/**
 * Finds silent connections: the network has lost them without an error, so a caller would wait for an answer for ever.
 * Statements of the pools have a time limit. For long work, which has none, this module ends silent connections. It also
 * remembers that a connection was silent, so that other callers do not have to wait until they notice it themselves.
 */
import { type Duplex, Writable } from 'node:stream'
import pg from 'pg'
import { serverSessionOf } from './session.ts'

/** Whether the driver reports that the server did not answer a statement in time, not even with an error. */
export const isSilence = (error: unknown): boolean => error instanceof Error && error.message === 'Query read timeout'

/**
 * Remembers when each connection last answered, and when any connection last answered. When one connection is found
 * silent (no answer in time), the others may be silent too. So each of them is used again only if it has answered after
 * that moment.
 */
export function createHearing() {
  const heardAtMs = new WeakMap<pg.ClientBase, number>()
  let losses = 0
  let lastHeardAtMs = Number.NEGATIVE_INFINITY
  let foundSilentAtMs = Number.NEGATIVE_INFINITY
  return {
    /** Call this before a statement. Call the returned function when the statement has succeeded. */
    listen(client: pg.ClientBase): () => void {
      const lossesBefore = losses
      return () => {
        const nowMs = performance.now()
        heardAtMs.set(client, nowMs)
        // If a connection was lost since the statement began, the answer does not show that the server is still there. A
        // server that shuts down may send its last message right after an answer. When both arrive together, we handle
        // the last message first.
        if (losses === lossesBefore) lastHeardAtMs = nowMs
      }
    },
    lost(): void {
      losses++
      lastHeardAtMs = Number.NEGATIVE_INFINITY
    },
    heardWithin: (ms: number): boolean => performance.now() - lastHeardAtMs <= ms,
    foundSilent(): void {
      foundSilentAtMs = performance.now()
    },
    /** Whether the connection has answered after the latest time at which any connection was found silent. */
    maySpeak: (client: pg.ClientBase): boolean => (heardAtMs.get(client) ?? 0) > foundSilentAtMs,
  }
}

/** Parts of the driver's client that its types do not show. */
type Internals = {
  connection: { stream: Duplex & { bytesRead?: number; bytesWritten?: number } }
  /** Whether the last statement has ended. */
  readyForQuery: boolean
  /** Whether `end` was called. */
  _ending: boolean
  _activeQuery: unknown
}
const internalsOf = (client: pg.ClientBase): Internals => client as unknown as Internals
const streamOf = (client: pg.ClientBase) => internalsOf(client).connection.stream

/**
 * Closes the socket of a connection without a closing message, because the server cannot receive one. Statements that run on it
 * fail as on any lost connection.
 */
export const endSilent = (client: pg.ClientBase): void => void streamOf(client).destroy(new Error('Connection silent'))

const lookEveryMs = 2_000
/**
 * How many checks of a watched connection must fail, one after the other, before the connection is ended. A single
 * failure may only mean that the machine is busy, and ending the connection may waste an upload of many minutes.
 */
const maxFailures = 2

/**
 * The state of a session on the server. `standing` is a text that changes whenever the session makes progress, even
 * within a COPY.
 */
type Session = { isIdle: boolean | null; waitsForNetwork: boolean | null; standing: string }

const ofSession = 'where pid = $1 and backend_start::text = $2'
const isIdle = `state like 'idle%'`
const waitsForNetwork = `wait_event_type = 'Client'`
const findSession = `select ${isIdle} as "isIdle", ${waitsForNetwork} as "waitsForNetwork",
    concat_ws(' ', state, state_change, bytes_processed) as standing
  from pg_stat_activity left join pg_stat_progress_copy using (pid) ${ofSession}`

/** How long to wait for an answer on the other connection. */
const answerWithinMs = 3_000

/** Runs a query about the session of `client`, on the connection `other`. */
function ask(other: pg.Client, text: string, client: pg.ClientBase, further: unknown[] = []): Promise<pg.QueryResult> {
  const session = serverSessionOf(client)
  const values = [session?.pid, session?.startedAt, ...further]
  return other.query({ text, values, query_timeout: answerWithinMs } as pg.QueryConfig)
}

/**
 * Ends the session of a connection that we have given up, if it is still there. When the network has lost the
 * connection, the server would keep the session and its locks.
 *
 * Two kinds of sessions are not ended:
 *
 * - A session whose transaction began after `failedAtMs`, or less than a second before it. A pooler may have given it to
 *   another connection.
 * - A session that is still working. It may be waiting until its commit has reached the standby. If it were ended then,
 *   others would see a commit that a failover can still lose.
 *
 * @param other another connection
 */
export async function endLeftSession(other: pg.Client, client: pg.ClientBase, failedAtMs: number): Promise<void> {
  const minSeconds = 1 + (performance.now() - failedAtMs) / 1000
  const end = `select pg_terminate_backend(pid) from pg_stat_activity ${ofSession}
    and (${isIdle} or ${waitsForNetwork}) and coalesce(xact_start, state_change) < clock_timestamp() - make_interval(secs => $3)`
  await ask(other, end, client, [minSeconds])
}

/**
 * Whether we wait for an answer of the server. Returns false while we do not read from the connection because the
 * client of a long read pauses.
 */
function awaitsAnswer(client: pg.ClientBase): boolean {
  const { connection, readyForQuery, _ending } = internalsOf(client)
  return (!readyForQuery || _ending) && !connection.stream.isPaused()
}

/** Whether a `copy ... from stdin` is running, has sent all bytes that it got from its source, and waits for more. */
function awaitsSource(client: pg.ClientBase): boolean {
  const { _activeQuery: copy } = internalsOf(client)
  return copy instanceof Writable && copy.writable && copy.writableLength === 0
}

/**
 * Finds out whether the server and we wait for each other. If this lasts, the network has lost the connection. During a
 * long statement, the server does not wait for us: it works, or waits for a lock or its disk.
 *
 * @param session the state of the session on the server; undefined when the server has ended the session
 * @returns a text that changes with any progress, if both wait; null if they do not wait for each other
 */
function findStandstill(client: pg.ClientBase, session: Session | undefined): string | null {
  if (!awaitsAnswer(client) || !serverSessionOf(client)) return null
  if (!session) return 'ended'
  if (!session.isIdle && (!session.waitsForNetwork || awaitsSource(client))) return null
  const { bytesWritten = 0, writableLength } = streamOf(client)
  return `${session.standing} ${bytesWritten - writableLength}`
}

/**
 * Watches a connection that has no time limits, and ends it when it is silent. A connection is silent when it receives
 * nothing and either no other connection can be made, or the server and we wait for each other. The statement that runs
 * on it then fails as on any lost connection.
 *
 * @param onAnother runs work on another connection; rejects when that is not possible
 * @returns a function that ends the watch
 */
export function endWhenSilent(
  client: pg.ClientBase,
  onAnother: (work: (other: pg.Client) => Promise<void>) => Promise<void>,
): () => void {
  const stream = streamOf(client)
  let received = stream.bytesRead
  let standstill: string | null = null
  let failures = 0
  let isLooking = false
  let isWatched = true

  const isSilent = () => isWatched && received === stream.bytesRead
  const lookAtSession = async (other: pg.Client) => {
    const found = findStandstill(client, (await ask(other, findSession, client)).rows[0])
    failures = found !== null && found === standstill ? failures + 1 : 0
    standstill = found
  }
  const look = async () => {
    if (isLooking) return
    isLooking = true
    if (isSilent())
      await onAnother(lookAtSession).catch(error => {
        // A server that refuses a connection is not silent.
        if (!(error instanceof pg.DatabaseError || error.cause instanceof pg.DatabaseError)) failures++
      })
    isLooking = false
    if (isSilent()) {
      if (failures >= maxFailures) endSilent(client)
      return
    }
    received = stream.bytesRead
    standstill = null
    failures = 0
  }
  const timer = setInterval(() => void look(), lookEveryMs)
  return () => {
    isWatched = false
    clearInterval(timer)
  }
}
