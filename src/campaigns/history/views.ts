/** Builds the responses with the history and with the banks' decisions. */
import type { HistoryPage } from './pages.ts'
import type { Decision, HistoryEntry } from './store.ts'

export const historyPageView = ({ entries }: HistoryPage) => entries.map(entryView)

/** The header that leads to the next page; none on the last one. @param path the path of the whole history */
export const historyLinks = ({ next }: HistoryPage, path: string): { link?: string } =>
  next === null ? {} : { link: `<${path}?before=${next}>; rel="next"` }

export const decisionView = (decision: Decision) => ({ ...decision, at: decision.at.toISOString() })

/** An entry as its readers see it. */
function entryView(entry: HistoryEntry) {
  const { at, actorType, actorId, login, name, role, subject, bankId, trigger, from, to, changes, comment } = entry
  const actor = { type: actorType, id: actorId, login, name, role }
  return { at: at.toISOString(), actor, subject, bankId, trigger, from, to, changes, comment }
}
