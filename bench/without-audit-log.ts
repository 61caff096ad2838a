/** Loaded before a platform (`node --import`), takes the audit log out of it: it records nothing, and all else is as it is. */
import { registerHooks } from 'node:module'

const source = `
export const entryKind = 'audit'
export async function recordEntries() {}
`

registerHooks({
  load(url, context, next) {
    if (!url.endsWith('/src/audit-log/recording.ts')) return next(url, context)
    return { format: 'module', source, shortCircuit: true }
  },
})
