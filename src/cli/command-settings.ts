/** The settings that single commands read. Unlike `serve`, they need only some of them, and do not read `.env`. */
import { existsSync, readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { ConfigError, type Environment, givenText } from '../config.ts'
import { masterKeyFile, operatorKeyFile } from '../settings/key-files.ts'
import { readMasterKeys, splitKeys } from '../settings/keys.ts'
import { isLoopback } from '../settings/loopback.ts'
import { readSecret } from '../settings/secret-files.ts'

/**
 * The settings of commands that call a running platform: its address and the operator's key.
 *
 * @throws ConfigError when there is no key, or it would be sent unencrypted to another machine
 */
export function readClientConfig(env: Environment): { url: string; operatorKey: string } {
  const text = givenText(env)
  const url = (text('PERKLINE_URL') ?? 'http://127.0.0.1:8080').replace(/\/+$/, '')
  if (!URL.canParse(url)) throw new ConfigError([`PERKLINE_URL must be a URL, not ${JSON.stringify(url)}`])
  const { protocol, hostname } = new URL(url)
  if (protocol === 'http:' && !isLoopback(hostname) && text('ALLOW_PLAINTEXT') !== '1')
    throw new ConfigError([
      `PERKLINE_URL must start with https://, as it leads to another machine: the operator's key would travel unencrypted. ` +
        'ALLOW_PLAINTEXT=1 allows it',
    ])
  return { url, operatorKey: readOperatorKey(env) }
}

/** Reads the operator's key from the environment, or the key that an embedded platform has stored. */
function readOperatorKey(env: Environment): string {
  const text = givenText(env)
  const errors: string[] = []
  const input = readSecret('OPERATOR_KEY', text, errors)
  if (errors.length > 0) throw new ConfigError(errors)
  if (input !== null) return splitKeys(input)[0] ?? input
  const path = operatorKeyFile(resolve(text('DATA_DIR') ?? './data'))
  const stored = readKeyFile(path, 'OPERATOR_KEY')
  if (stored !== null) return stored
  throw new ConfigError([
    `There is no operator's key: neither OPERATOR_KEY nor OPERATOR_KEY_FILE is set, and ${path} does not exist. Set one of ` +
      'them, or set DATA_DIR to the data folder of the platform (.env is read by serve and migrate only)',
  ])
}

/**
 * Reads a key that an embedded platform has stored.
 *
 * @returns null when there is no such file
 * @throws ConfigError when this user can't read it
 */
function readKeyFile(path: string, setting: string): string | null {
  if (!existsSync(path)) return null
  try {
    return readFileSync(path, 'utf8').trim()
  } catch (error) {
    throw new ConfigError([
      `${setting} is not set, and this user can't read it from DATA_DIR (${(error as Error).message}): set it, or ` +
        'run perkline as the user that runs the platform',
    ])
  }
}

/**
 * Returns the address that `perkline health` calls: PERKLINE_URL, or else the address that HOST and PORT give.
 *
 * @throws ConfigError for an invalid address
 */
export function readHealthUrl(env: Environment): string {
  const text = givenText(env)
  const host = text('HOST') ?? '127.0.0.1'
  const reached = host === '0.0.0.0' ? '127.0.0.1' : host === '::' ? '::1' : host
  const shown = reached.includes(':') ? `[${reached}]` : reached
  const url = (text('PERKLINE_URL') ?? `http://${shown}:${text('PORT') ?? '8080'}`).replace(/\/+$/, '')
  if (!URL.canParse(url)) throw new ConfigError([`PERKLINE_URL must be a URL, not ${JSON.stringify(url)}`])
  return url
}

/**
 * Reads only the master keys, for commands that need no other setting.
 *
 * @throws ConfigError when this machine has no master key, or when one is invalid
 */
export function readMasterKeysOnly(env: Environment): Buffer[] {
  const text = givenText(env)
  const errors: string[] = []
  const path = masterKeyFile(resolve(text('DATA_DIR') ?? './data'))
  const input = readSecret('MASTER_KEY', text, errors) ?? readKeyFile(path, 'MASTER_KEY')
  const keys = readMasterKeys(input, errors)
  if (keys.length === 0 && errors.length === 0)
    errors.push(`There is no master key: neither MASTER_KEY nor MASTER_KEY_FILE is set, and ${path} does not exist`)
  if (errors.length > 0) throw new ConfigError(errors)
  return keys
}

/**
 * Reads only the address of the database, from DATABASE_URL or DATABASE_URL_FILE.
 *
 * @returns null when neither is set
 * @throws ConfigError when both are set, or the file can't be read
 */
export function readDatabaseUrlOnly(env: Environment): string | null {
  const errors: string[] = []
  const input = readSecret('DATABASE_URL', givenText(env), errors)
  if (errors.length > 0) throw new ConfigError(errors)
  return input
}
