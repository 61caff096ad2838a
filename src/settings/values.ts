/** Reads the values of settings by their form: numbers, durations, choices, URLs and rates. */
import { addDuration } from '../text/duration.ts'

type RateLimit = { perSecond: number; burst: number }

const maxShutdownMs = 600_000

/**
 * Makes the functions that read values of settings.
 *
 * @param text returns the text of a setting; null when it is not set
 * @param errors receives a message for each wrong value. The function then returns a substitute, so that the other
 *   settings can still be read
 */
export function createReaders(text: (name: string) => string | null, errors: string[]) {
  const whole = (name: string, byDefault: number, min: number, max: number): number => {
    const value = text(name)
    if (value === null) return byDefault
    if (/^\d{1,15}$/.test(value) && Number(value) >= min && Number(value) <= max) return Number(value)
    errors.push(`${name} must be a whole number from ${min} to ${max}, not ${JSON.stringify(value)}`)
    return byDefault
  }
  const days = (name: string): number | null => (text(name) === null ? null : whole(name, 1, 1, 36_500))
  const duration = (name: string, byDefault: string): number => {
    const value = text(name) ?? byDefault
    const ms = addDuration(new Date(0), value)?.getTime()
    if (ms !== undefined && ms <= maxShutdownMs) return ms
    errors.push(
      `${name} must be an ISO 8601 duration of at most ten minutes, like ${byDefault}, not ${JSON.stringify(value)}`,
    )
    return 0
  }
  const oneOf = <T extends string>(name: string, byDefault: T, values: readonly T[]): T => {
    const value = text(name) ?? byDefault
    if ((values as readonly string[]).includes(value)) return value as T
    errors.push(`${name} must be one of ${values.join(', ')}, not ${JSON.stringify(value)}`)
    return byDefault
  }
  const url = (name: string, protocols: readonly string[]): string | null => {
    const value = text(name)
    if (value === null) return null
    if (URL.canParse(value) && protocols.includes(new URL(value).protocol) && isDecodable(value)) return value
    const starts = protocols.map(protocol => `${protocol}//`).join(' or ')
    // The message does not repeat the value, which may contain a password.
    errors.push(`${name} must be a URL that starts with ${starts}, with special characters percent-encoded`)
    return null
  }
  const rateLimit = (name: string, byDefault: string): RateLimit | null => {
    const value = text(name) ?? byDefault
    if (value === '0') return null
    const [, perSecond, burst] = /^([1-9]\d{0,8})\/([1-9]\d{0,8})$/.exec(value) ?? []
    if (perSecond && burst) return { perSecond: Number(perSecond), burst: Number(burst) }
    errors.push(
      `${name} must be requests a second, a slash and the burst, like 100/200, or 0; not ${JSON.stringify(value)}`,
    )
    return null
  }
  return { whole, days, duration, oneOf, url, rateLimit }
}

function isDecodable(url: string): boolean {
  try {
    decodeURIComponent(url)
    return true
  } catch {
    return false
  }
}
