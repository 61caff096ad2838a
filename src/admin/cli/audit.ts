import { callAdmin } from './connection.ts'
import { CommandError } from './failure.ts'
import { counted, type OutputOptions, plain, print } from './output.ts'

type Audit = { ok: boolean; checks: { name: string; ok: boolean; detail: string }[] }

/**
 * `perkline audit`: checks that all records agree with each other.
 *
 * @throws CommandError when a check fails, after all of them were printed
 */
export async function auditBooks(options: OutputOptions): Promise<void> {
  const audit = await callAdmin<Audit>({ method: 'GET', path: '/audit', long: true })
  const lines = audit.checks.map(({ ok, name, detail }) => plain(`${ok ? 'ok  ' : 'FAIL'} ${name}: ${detail}`))
  print(options, audit, lines)
  if (audit.ok) return
  const failed = audit.checks.filter(({ ok }) => !ok).map(({ name }) => plain(name))
  throw new CommandError(`The audit failed: ${counted(failed.length, 'check', 'checks')} (${failed.join(', ')}).`)
}
