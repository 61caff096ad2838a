/** The key files that an embedded platform makes at its first start and keeps. */
import { randomBytes } from 'node:crypto'
import {
  closeSync,
  existsSync,
  fsyncSync,
  linkSync,
  mkdirSync,
  openSync,
  readFileSync,
  rmSync,
  unlinkSync,
  writeFileSync,
} from 'node:fs'
import { dirname, join } from 'node:path'

/**
 * The folder of the keys. It is apart from the database's folder, so that a backup of the data can leave the keys
 * out.
 */
const keyFolder = 'keys'

export const operatorKeyFile = (dataDir: string): string => join(dataDir, 'operator.key')
export const masterKeyFile = (dataDir: string): string => join(dataDir, keyFolder, 'master.key')
/** The place of the master key in version 0.2. */
const formerMasterKeyFile = (dataDir: string): string => join(dataDir, 'master.key')

/**
 * @returns the operator's key of a data folder, made if it is missing
 * @throws the file system's error when the key cannot be read or written
 */
export function keepOperatorKey(dataDir: string): string {
  return keep(operatorKeyFile(dataDir), () => randomBytes(32).toString('hex'))
}

/**
 * The master key of a data folder, made if it is missing. A key that version 0.2 left beside the database is moved
 * first.
 *
 * @throws the file system's errors, and an Error when there are two different keys
 */
export function keepMasterKey(dataDir: string): string {
  // Other users may enter the data folder but not list it. If the platform runs as root, the embedded database runs
  // as another user, who must enter the folder.
  mkdirSync(dataDir, { recursive: true, mode: 0o711 })
  mkdirSync(join(dataDir, keyFolder), { recursive: true, mode: 0o700 })
  moveFormerKey(dataDir)
  return keep(masterKeyFile(dataDir), () => randomBytes(32).toString('base64'))
}

/**
 * Copies the key to its new place and flushes it to disk before removing the old file. An interrupted start leaves the
 * key in both places, and the next start continues. Several starts may do this at once.
 */
function moveFormerKey(dataDir: string): void {
  const [former, present] = [formerMasterKeyFile(dataDir), masterKeyFile(dataDir)]
  const content = readIfThere(former)
  if (content === null) return
  makeFile(present, content)
  if (readFileSync(present, 'utf8').trim() !== content.trim())
    throw new Error(`${former} and ${present} hold different keys: remove the one that is not the key of this database`)
  rmSync(former, { force: true })
  flushFolder(dataDir)
}

function readIfThere(path: string): string | null {
  try {
    return readFileSync(path, 'utf8')
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null
    throw error
  }
}

function keep(path: string, make: () => string): string {
  if (!existsSync(path)) makeFile(path, `${make()}\n`)
  return readFileSync(path, 'utf8').trim()
}

/**
 * Makes a file that appears complete or not at all, and that survives a power cut. If the key in it were lost, the
 * database could not be read any more. An existing file stays unchanged.
 */
function makeFile(path: string, content: string): void {
  mkdirSync(dirname(path), { recursive: true, mode: 0o711 })
  const draft = `${path}.${randomBytes(6).toString('hex')}`
  writeFileSync(draft, content, { mode: 0o600, flag: 'wx', flush: true })
  try {
    linkSync(draft, path)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error
  } finally {
    unlinkSync(draft)
  }
  flushFolder(dirname(path))
}

function flushFolder(path: string): void {
  const folder = openSync(path, 'r')
  fsyncSync(folder)
  closeSync(folder)
}
