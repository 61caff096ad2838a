/**
 * Notifies all processes at once that something changed (PostgreSQL's NOTIFY). A notification may get lost, so each
 * topic is also checked every `pollMs` and after a lost connection. A silent connection counts as lost.
 */
import type pg from 'pg'
import type { Database, Queryable } from './database.ts'
import { mapError } from './errors.ts'
import { endSilent, isSilence } from './silence.ts'
import { listenerName } from './versions.ts'

const topics = ['access', 'catalogue', 'clock', 'events'] as const
export type Topic = (typeof topics)[number]

const channel = 'perkline'
const reconnectMs = 1_000
/**
 * After this time without an answer, the connection counts as silent. The network can lose a connection without an
 * error.
 */
const answerWithinMs = 10_000

/** Runs a statement on the listening connection, and ends the connection when it is silent. */
const ask = (client: pg.Client, text: string): Promise<pg.QueryResult> =>
  client.query({ text, query_timeout: answerWithinMs } as pg.QueryConfig).catch(error => {
    if (isSilence(error)) endSilent(client)
    return mapError(error)
  })

/** Sends a notification when the transaction commits, or at once outside of a transaction. */
export async function notify(database: Queryable, topic: Topic): Promise<void> {
  await database.execute('select pg_notify($1, $2)', [channel, topic])
}

type ListenOptions = {
  database: Database
  handlers: Partial<Record<Topic, () => Promise<void>>>
  pollMs: number
  /** Also called every `pollMs`, with the listening connection; calls never overlap. */
  onPoll?: (query: <Row>(text: string) => Promise<Row[]>) => Promise<void>
  onError(error: unknown): void
  /**
   * Called when a new connection listens, before the handlers are called. After a failover, the database may be another
   * server.
   */
  onConnected?: () => void
  /** Called once a new connection listens and every handler was called. */
  onListening?: () => void
  /** Called before each attempt to reconnect. */
  onReconnect?: () => void
}

/**
 * Calls the handlers now, at each notification of their topic, and every `pollMs`.
 *
 * @param options.onError called when a handler or the connection fails; listening goes on
 * @returns a function that stops listening
 */
export async function listen(options: ListenOptions): Promise<{ stop(): Promise<void> }> {
  const { database, handlers, onError } = options
  let client: pg.Client | null = null
  let stopped = false
  let reconnect: NodeJS.Timeout | undefined

  const call = (topic: Topic) => handlers[topic]?.().catch(onError)
  const pollOnce = createPolling(options.onPoll, onError)
  const callAll = () => Promise.all(topics.map(call))

  const reconnectSoon = () => {
    client = null
    clearTimeout(reconnect)
    if (stopped) return
    reconnect = setTimeout(() => {
      options.onReconnect?.()
      void connect()
    }, reconnectMs)
  }

  const connect = async (): Promise<void> => {
    let fresh: pg.Client | null = null
    try {
      fresh = await database.connect()
      if (stopped) return void fresh.end().catch(() => {})
      client = fresh
      fresh.on('notification', message => void call(message.payload as Topic))
      fresh.once('end', reconnectSoon)
      await ask(fresh, `set application_name = '${listenerName}'; listen ${channel}`)
      options.onConnected?.()
      await callAll()
      options.onListening?.()
    } catch (error) {
      onError(error)
      // The connection may have ended before the listener was added.
      fresh?.off('end', reconnectSoon)
      void fresh?.end().catch(() => {})
      reconnectSoon()
    }
  }

  await connect()
  const poll = setInterval(() => {
    void callAll()
    if (client) void pollOnce(client)
  }, options.pollMs)
  return {
    async stop() {
      stopped = true
      clearInterval(poll)
      clearTimeout(reconnect)
      await client?.end().catch(() => {})
    },
  }
}

/** Creates a function that polls once, unless the previous poll is still running. */
function createPolling(
  onPoll: ListenOptions['onPoll'],
  onError: (error: unknown) => void,
): (listening: pg.Client) => Promise<void> {
  let isPolling = false
  return async listening => {
    if (isPolling) return
    isPolling = true
    await onPoll?.(async <Row>(text: string) => (await ask(listening, text)).rows as Row[])
      .catch(onError)
      .finally(() => {
        isPolling = false
      })
  }
}
