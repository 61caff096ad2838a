/**
 * Checks the settings and everything that they point to: database, mail, Redis, addresses, disk. Each result says what
 * is wrong and what to do (contract/production.md, "Commands"). Changes nothing and shows no secret.
 */
import { statfs } from 'node:fs/promises'
import { userInfo } from 'node:os'
import { connect as connectByTls, type TLSSocket } from 'node:tls'
import { checkAnchorFile } from '../audit-log/anchor-file.ts'
import { databaseFindings } from './doctor-database.ts'
import { type Finding, failed, passed, warned } from './doctor-finding.ts'
import { redisFinding, smtpFinding } from './doctor-services.ts'
import type { DoctorSettings } from './doctor-settings.ts'

export type Diagnosis = { ok: boolean; checks: Finding[] }

const answerWithinMs = 5_000
const lowDiskBytes = 1024 ** 3
const certificateDays = 14

export async function diagnose(settings: DoctorSettings): Promise<Diagnosis> {
  const findings = await Promise.all([
    settingsFindings(settings),
    databaseFindings(settings),
    smtpFinding(settings.smtpUrl),
    redisFinding(settings.redisUrl),
    diskFindings(settings),
    anchorFindings(settings.auditAnchorFile),
    addressFindings(settings),
  ])
  const checks = findings.flat()
  return { ok: checks.every(({ ok }) => ok), checks }
}

async function settingsFindings({ advice, mode, metrics }: DoctorSettings): Promise<Finding[]> {
  const warnings = advice.map(sentence =>
    warned('settings', sentence, 'Correct the setting, and start the process again'),
  )
  if (mode === 'live' && metrics === null)
    warnings.push(
      warned('settings', 'METRICS_PORT is not set: no alert can fire', 'Set METRICS_PORT, and let Prometheus read it'),
    )
  return warnings.length > 0 ? warnings : [passed('settings', 'all settings can be used')]
}

/** Checks the room for the embedded database. With a server of its own the platform keeps nothing in DATA_DIR that grows. */
async function diskFindings({ databaseUrl, dataDir }: DoctorSettings): Promise<Finding[]> {
  return databaseUrl === null ? [await diskFinding(dataDir)] : []
}

async function diskFinding(dataDir: string): Promise<Finding> {
  try {
    const { bavail, bsize, blocks } = await statfs(dataDir)
    const free = bavail * bsize
    const share = Math.round((100 * bavail) / Math.max(blocks, 1))
    const detail = `${(free / 1024 ** 3).toFixed(1)} GiB (${share} %) are free in ${dataDir}`
    if (free < lowDiskBytes) return failed('disk', detail, 'Free some space; never delete files of the database itself')
    return passed('disk', detail)
  } catch (error) {
    return warned(
      'disk',
      `DATA_DIR can't be looked at (${codeOf(error)})`,
      'Make the folder, owned by the user that runs Perkline',
    )
  }
}

async function anchorFindings(file: string | null): Promise<Finding[]> {
  if (file === null) return []
  try {
    await checkAnchorFile(file)
    const user = userInfo().username
    if (user !== 'root') return [passed('checkpoints', `${file} can be written by ${user}`)]
    const detail = `${file} can be written by root; whether the process that runs Perkline can write it was not checked`
    const advice = 'Look for AUDIT_ANCHOR_FILE in the log of a start, or run doctor as the user of the process'
    return [warned('checkpoints', detail, advice)]
  } catch (error) {
    const advice = 'Make its folder, which the user that runs Perkline must be able to write, and mount its disk'
    return [failed('checkpoints', `AUDIT_ANCHOR_FILE can't be written (${codeOf(error)})`, advice)]
  }
}

/** Checks whether this machine can reach the address that partners use, and checks the certificate of that address. */
async function addressFindings({ publicUrl, mode }: DoctorSettings): Promise<Finding[]> {
  const reached = await reachPublicUrl(publicUrl)
  if (!publicUrl.startsWith('https:')) {
    if (mode === 'sandbox') return [reached]
    const detail = 'PUBLIC_URL is not https: passwords and tokens travel unencrypted'
    return [
      reached,
      warned('public-address-tls', detail, 'Put a proxy with TLS in front, and set PUBLIC_URL to its address'),
    ]
  }
  return [reached, await certificateFinding(new URL(publicUrl))]
}

async function reachPublicUrl(publicUrl: string): Promise<Finding> {
  const advice = 'Start a process, and check the proxy, the name and the firewall between'
  try {
    const answer = await fetch(`${publicUrl}/health/ready`, {
      signal: AbortSignal.timeout(answerWithinMs),
      redirect: 'manual',
    })
    const text = (await answer.text()).slice(0, 200)
    if (!/"status":"(?:ready|not ready)"/.test(text))
      return failed('public-address', `${publicUrl} answers ${answer.status}, but not as Perkline does`, advice)
    return passed('public-address', `${publicUrl} leads to Perkline`)
  } catch (error) {
    return failed('public-address', `${publicUrl} can't be reached (${codeOf(error)})`, advice)
  }
}

async function certificateFinding({ hostname, port }: URL): Promise<Finding> {
  const advice = 'Renew the certificate, and reload the proxy'
  try {
    const endsAt = await certificateEnd(hostname.replace(/^\[(.*)\]$/, '$1'), Number(port || 443))
    const days = Math.floor((endsAt.getTime() - Date.now()) / 86_400_000)
    const detail = `the certificate of ${hostname} ends on ${endsAt.toISOString().slice(0, 10)}, in ${days} days`
    return days < certificateDays ? failed('certificate', detail, advice) : passed('certificate', detail)
  } catch (error) {
    const code = codeOf(error)
    if (!isConnectionError(code))
      return failed('certificate', `the certificate of ${hostname} can't be trusted (${code})`, advice)
    const detail = `the certificate of ${hostname} was not seen, because no TLS connection was made (${code})`
    return failed('certificate', detail, 'Check the name, the proxy and the firewall between; then run doctor again')
  }
}

/**
 * Whether a code comes from the operating system (`ENOTFOUND`) or means that the server does not speak TLS
 * (`ERR_SSL_...`). Codes of certificate errors begin differently, for example with `CERT_` or `ERR_TLS_CERT_`.
 */
const isConnectionError = (code: string): boolean => /^(?:E(?!R)|ERR_SSL_)/.test(code)

function certificateEnd(host: string, port: number): Promise<Date> {
  return new Promise((resolve, reject) => {
    const socket: TLSSocket = connectByTls({ host, port, servername: host, timeout: answerWithinMs }, () => {
      resolve(new Date(socket.getPeerCertificate().valid_to))
      socket.end()
    })
    socket.once('timeout', () => socket.destroy(Object.assign(new Error('no answer'), { code: 'ETIMEDOUT' })))
    socket.once('error', reject)
  })
}

/** Returns the code of an error. The message is not used, because it could contain an address with a password. */
function codeOf(error: unknown): string {
  // A DOMException, for example of a time-out, has a number as its code.
  const { code, name, cause } = error as { code?: string | number; name?: string; cause?: { code?: string } }
  return cause?.code ?? (typeof code === 'string' ? code : name) ?? 'no answer'
}
