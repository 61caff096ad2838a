/** The command `perkline audit`. */
import { streamAdmin } from './connection.ts'
import { CommandError } from './failure.ts'
import { counted, type OutputOptions, plain, print } from './output.ts'
import { showProgress } from './progress.ts'

type Audit = { ok: boolean; checks: { name: string; ok: boolean; detail: string }[] }
type Line = Partial<Audit> & { progress?: { percent: number; step: string } }

export type AuditOptions = OutputOptions & { resume?: boolean }

/**
 * `perkline audit`: checks that all records agree with each other.
 *
 * @param options.resume continues the last audit if it was interrupted
 * @throws CommandError when a check fails, after printing the results of all checks
 */
export async function auditBooks(options: AuditOptions): Promise<void> {
  const audit = await runAudit(options.resume ?? false)
  const lines = audit.checks.map(({ ok, name, detail }) => plain(`${ok ? 'ok  ' : 'FAIL'} ${name}: ${detail}`))
  print(options, audit, lines)
  if (audit.ok) return
  const failed = audit.checks.filter(({ ok }) => !ok).map(({ name }) => plain(name))
  throw new CommandError(`The audit failed: ${counted(failed.length, 'check', 'checks')} (${failed.join(', ')}).`)
}

async function runAudit(resume: boolean): Promise<Audit> {
  const bar = await showProgress('Checking')
  let reached = -1
  try {
    const path = `/audit?progress=true&resume=${resume}`
    for await (const { progress, ok, checks } of streamAdmin<Line>({ method: 'GET', path, long: true })) {
      if (ok !== undefined && checks) return { ok, checks }
      if (!progress) continue
      reached = progress.percent
      bar.show(reached, 100, progress.step)
    }
    throw new CommandError('The platform broke off before the end.')
  } catch (error) {
    if (reached < 0 || !(error instanceof CommandError)) throw error
    throw new CommandError(`${error.message}\nIt got to ${reached} %. Continue with: perkline audit --resume`)
  } finally {
    bar.end()
  }
}
