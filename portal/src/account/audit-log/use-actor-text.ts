import { useTexts } from '../../i18n/preferences.tsx'
import { erasedName } from './names.ts'
import type { Entry } from './queries.ts'
import { auditLogTexts } from './texts.ts'

/**
 * Returns a function that names an actor: by the login of a person, by the label of a system, and otherwise by the kind
 * of actor. Unknown kinds are shown by their code.
 */
export function useActorText(): (entry: Pick<Entry, 'actor' | 'action'>) => string {
  const texts = useTexts(auditLogTexts)
  const kinds: Record<string, string> = texts.actors
  return entry => {
    if (isAskedAtLogin(entry)) return texts.atLogin
    const { type, id, name } = entry.actor
    if (type === 'person' && name === erasedName) return texts.erased
    return name || (type === 'system' && id) || (kinds[type] ?? type)
  }
}

/** Returns a function that names the interface through which something was done. */
export function useViaText(): (entry: Pick<Entry, 'actor' | 'action' | 'via'>) => string {
  const texts = useTexts(auditLogTexts)
  const interfaces: Record<string, string> = texts.via
  return entry => {
    const via = isAskedAtLogin(entry) ? 'portal' : entry.via
    return interfaces[via] ?? via
  }
}

/**
 * Whether somebody who was not logged in asked for a link to a new password. The actor of this entry is `clock`, so it
 * looks like a scheduled job (contract/audit-log.md).
 */
const isAskedAtLogin = ({ actor, action }: Pick<Entry, 'actor' | 'action'>): boolean =>
  actor.type === 'clock' && action === 'password.reset_link_made'
