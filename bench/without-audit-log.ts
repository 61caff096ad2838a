/** Removes the audit log from a platform when loaded before it (`node --import`). Everything else stays the same. */
import { registerHooks } from 'node:module'

const source = `
export const entryKind = 'audit'
export async function recordEntries() {}
`

registerHooks({
  load(url, context, next) {
    if (!url.endsWith('/src/outbox/audit-entry-writing.ts')) return next(url, context)
    return { format: 'module', source, shortCircuit: true }
  },
})
