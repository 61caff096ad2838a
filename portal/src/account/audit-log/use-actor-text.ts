import { useTexts } from '../../i18n/preferences.tsx'
import { erasedName } from './names.ts'
import type { Entry } from './queries.ts'
import { auditLogTexts } from './texts.ts'

/** The login of a person or the label of a system; for others the kind. Unknown kinds are shown by their code. */
export function useActorText(): (actor: Entry['actor']) => string {
  const texts = useTexts(auditLogTexts)
  const kinds: Record<string, string> = texts.actors
  return ({ type, id, name }) => {
    if (type === 'person' && name === erasedName) return texts.erased
    return name || (type === 'system' && id) || (kinds[type] ?? type)
  }
}
