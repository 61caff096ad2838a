import { useTexts } from '../../i18n/preferences.tsx'
import { erasedName } from './names.ts'
import type { Entry } from './queries.ts'
import { auditLogTexts } from './texts.ts'

/** Who did it: the login, the label of a system, or what else is known; a kind that came later by its code. */
export function useActorText(): (actor: Entry['actor']) => string {
  const texts = useTexts(auditLogTexts)
  const kinds: Record<string, string> = texts.actors
  return ({ type, id, name }) => {
    if (type === 'person' && name === erasedName) return texts.erased
    return name || (type === 'system' && id) || (kinds[type] ?? type)
  }
}
