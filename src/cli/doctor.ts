/** The command `perkline doctor`. */
import { ConfigError, processEnvironment, readConfig } from '../config.ts'
import { settingsAdvice } from '../settings/advice.ts'
import { type Diagnosis, diagnose } from '../upkeep/doctor.ts'
import { failed } from '../upkeep/doctor-finding.ts'
import { CommandError } from './failure.ts'
import { counted, type OutputOptions, plain, print } from './output.ts'

/**
 * `perkline doctor`: checks this machine's settings and everything that they point to.
 *
 * @throws CommandError when a check fails, after printing all results
 */
export async function examine(options: OutputOptions): Promise<void> {
  const diagnosis = await findDiagnosis()
  print(options, diagnosis, diagnosis.checks.flatMap(linesOf))
  const wrong = diagnosis.checks.filter(({ ok }) => !ok)
  if (wrong.length > 0)
    throw new CommandError(
      `${counted(wrong.length, 'check', 'checks')} failed: ${wrong.map(({ name }) => name).join(', ')}.`,
    )
}

/** Runs the checks. If the settings are unusable, nothing else can be checked, and only their errors are reported. */
async function findDiagnosis(): Promise<Diagnosis> {
  const env = processEnvironment()
  try {
    const config = readConfig(env)
    return await diagnose({ ...config, advice: settingsAdvice(config, env) })
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error
    const errors = error.message.split('\n').flatMap(line => (line.startsWith('  - ') ? line.slice(4) : []))
    const advice = 'Correct the setting; perkline help settings explains each'
    return { ok: false, checks: errors.map(text => failed('settings', text, advice)) }
  }
}

const marks = { ok: 'ok  ', warning: 'warn', failed: 'FAIL' } as const

function linesOf({ name, status, detail, advice }: Diagnosis['checks'][number]): string[] {
  const line = plain(`${marks[status]} ${name}: ${detail}`)
  return advice === null ? [line] : [line, plain(`     ${advice}`)]
}
