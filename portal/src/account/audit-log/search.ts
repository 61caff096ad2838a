/** The state that the audit log page keeps in its address. */
import { counting, day, searchParams, text } from '../../routing/search.ts'

/**
 * `object` is a kind, or one object as `kind:id`. `actor` is the id of a person or system. `account` is the id of a
 * bank or merchant, for the platform's people only.
 */
export const auditLogSearch = searchParams({
  from: day,
  to: day,
  action: text,
  actor: text,
  object: text,
  account: text,
  page: counting,
})
export type AuditLogSearch = ReturnType<typeof auditLogSearch>
export type AuditLogFilters = Omit<AuditLogSearch, 'page'>

/** Splits the filter into kind and id. */
export function readObject(object: string | undefined): { type: string; id: string | undefined } | null {
  if (object === undefined) return null
  const [type = '', ...id] = object.split(':')
  return { type, id: id.join(':') || undefined }
}

export const writeObject = (type: string, id?: string | null): string => (id ? `${type}:${id}` : type)
