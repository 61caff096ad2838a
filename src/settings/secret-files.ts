/**
 * Reads secret settings. Each may also be in a file that `NAME_FILE` names, because container engines and systemd pass
 * secrets in this way.
 */
import { closeSync, lstatSync, openSync, readSync, statSync } from 'node:fs'

export const secretNames = ['DATABASE_URL', 'MASTER_KEY', 'OPERATOR_KEY', 'SMTP_URL', 'REDIS_URL'] as const
export type SecretName = (typeof secretNames)[number]

/** A file with more bytes than this is refused, because it is probably not the file of a secret. */
const maxBytes = 64 * 1024

type Read = (name: string) => string | null

/**
 * Reads a secret setting. Its value is in the setting NAME itself, or in the file that the setting NAME_FILE names.
 *
 * @param read returns the text of a plain setting, null when it is not set
 * @param errors receives the errors: both forms are set, or the file can't be read, is empty or is too long
 * @returns null when neither form is set, or the file has an error
 */
export function readSecret(name: SecretName, read: Read, errors: string[]): string | null {
  const [value, path] = [read(name), read(`${name}_FILE`)]
  if (path === null) return value
  if (value !== null) {
    errors.push(`${name} and ${name}_FILE are both set: keep one of them`)
    return value
  }
  try {
    const content = readStart(path, maxBytes + 1)
    if (content.length > maxBytes) {
      errors.push(`${name}_FILE names ${path}, which has more than ${maxBytes / 1024} KiB`)
      return null
    }
    const secret = content.toString('utf8').trim()
    if (secret === '') errors.push(`${name}_FILE names ${path}, which is empty`)
    return secret || null
  } catch (error) {
    errors.push(`${name}_FILE must name a file that this user can read (${(error as Error).message})`)
    return null
  }
}

/**
 * Reads at most `bytes` from the start of a file. The file may be a pipe of a shell (`<(...)`, a link in /dev/fd), or a
 * device without an end. A named pipe is refused, because opening it would wait for ever for a writer.
 */
function readStart(path: string, bytes: number): Buffer {
  if (lstatSync(path).isFIFO()) throw new Error(`${path} is a named pipe`)
  const file = openSync(path, 'r')
  try {
    const start = Buffer.alloc(bytes)
    let [length, read] = [0, 0]
    do {
      read = readSync(file, start, length, bytes - length, null)
      length += read
    } while (read > 0 && length < bytes)
    return start.subarray(0, length)
  } finally {
    closeSync(file)
  }
}

/** Whether the secret is set in either form, valid or not. */
export const isSecretGiven = (name: SecretName, read: Read): boolean =>
  read(name) !== null || read(`${name}_FILE`) !== null

/** Returns the names of the `_FILE` settings whose file every user of this machine can read. */
export function openFiles(read: Read): string[] {
  const isOpen = (path: string | null) =>
    path !== null && ((statSync(path, { throwIfNoEntry: false })?.mode ?? 0) & 0o004) > 0
  return secretNames.map(name => `${name}_FILE`).filter(name => isOpen(read(name)))
}
