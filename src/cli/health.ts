/** `perkline health`: for health probes of container engines and systemd on machines without curl. */
import { get as getPlain } from 'node:http'
import { get as getByTls } from 'node:https'
import { setTimeout as sleep } from 'node:timers/promises'
import { processEnvironment } from '../config.ts'
import { readHealthUrl } from './command-settings.ts'
import { CommandError, describeError, usageError } from './failure.ts'
import { type OutputOptions, plain, print } from './output.ts'

export type HealthOptions = OutputOptions & { ready?: true; wait?: number; url?: string }

type Health = { ok: boolean; url: string; status: string; reason: string | null }

const answerWithinMs = 5_000
const askAgainMs = 250
const maxAnswerBytes = 4_096

/**
 * Asks a process whether it is alive or ready. Repeats this until the answer is yes, or until `--wait` seconds are
 * over.
 *
 * @throws CommandError with exit code 1 and one line when the process is not alive or not ready
 */
export async function askHealth(options: HealthOptions): Promise<void> {
  const url = (options.url ?? readHealthUrl(processEnvironment())).replace(/\/+$/, '')
  if (!/^https?:/.test(url) || !URL.canParse(url)) throw usageError('--url must begin with http:// or https://')
  const giveUpAtMs = performance.now() + (options.wait ?? 0) * 1_000
  let health = await askOnce(url, options.ready === true)
  while (!health.ok && performance.now() < giveUpAtMs) {
    await sleep(askAgainMs)
    health = await askOnce(url, options.ready === true)
  }
  if (health.ok || options.json) print(options, health, [plain(`${health.status}: ${url}`)])
  if (!health.ok) throw new CommandError(plain(`${health.status}: ${url} (${health.reason})`))
}

async function askOnce(url: string, ready: boolean): Promise<Health> {
  try {
    const { statusCode, text } = await read(`${url}/health/${ready ? 'ready' : 'live'}`)
    const { status = 'no Perkline', reason = null } = parsed(text)
    const ok = statusCode === 200 && status === (ready ? 'ready' : 'live')
    return { ok, url, status, reason: ok ? null : (reason ?? `it answered ${statusCode}`) }
  } catch (error) {
    return { ok: false, url, status: ready ? 'not ready' : 'not live', reason: describeError(error, undefined) }
  }
}

function parsed(text: string): { status?: string; reason?: string } {
  try {
    const value: unknown = JSON.parse(text)
    return typeof value === 'object' && value !== null ? value : {}
  } catch {
    return {}
  }
}

function read(address: string): Promise<{ statusCode: number; text: string }> {
  return new Promise((resolve, reject) => {
    const get = address.startsWith('https:') ? getByTls : getPlain
    const request = get(address, { signal: AbortSignal.timeout(answerWithinMs) }, response => {
      let text = ''
      response.setEncoding('utf8')
      response.on('data', (part: string) => {
        text += part
        if (text.length > maxAnswerBytes) request.destroy(new Error('the answer is too long'))
      })
      response.once('error', reject)
      response.once('end', () => resolve({ statusCode: response.statusCode ?? 0, text }))
    })
    request.once('error', reject)
  })
}
