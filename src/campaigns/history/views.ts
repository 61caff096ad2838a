/** What readers of a history get. */
import type { FastifyReply } from 'fastify'
import type { Decision, HistoryEntry, HistoryPage } from './store.ts'

/** The entries of a page. Sets the header that leads to the next page. @param path the path of the whole history */
export function historyPageView(reply: FastifyReply, { entries, next }: HistoryPage, path: string) {
  if (next !== null) reply.header('link', `<${path}?before=${next}>; rel="next"`)
  return entries.map(entryView)
}

export const decisionView = (decision: Decision) => ({ ...decision, at: decision.at.toISOString() })

/** An entry as its readers see it. */
function entryView(entry: HistoryEntry) {
  const { at, actorType, actorId, login, name, role, subject, bankId, trigger, from, to, changes, comment } = entry
  const actor = { type: actorType, id: actorId, login, name, role }
  return { at: at.toISOString(), actor, subject, bankId, trigger, from, to, changes, comment }
}
