/** The keys that an embedded platform makes for itself at its first start, and keeps. */
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

/** Apart from the database, so that a backup of the data can leave the keys out. */
const keyFolder = 'keys'

export const operatorKeyFile = (dataDir: string): string => join(dataDir, 'operator.key')
export const masterKeyFile = (dataDir: string): string => join(dataDir, keyFolder, 'master.key')
/** Where version 0.2 kept it. */
const formerMasterKeyFile = (dataDir: string): string => join(dataDir, 'master.key')

/** @returns the operator's key of a data folder, made when it is not there. @throws the file system's errors */
export function keepOperatorKey(dataDir: string): string {
  return keep(operatorKeyFile(dataDir), () => randomBytes(32).toString('hex'))
}

/**
 * The master key of a data folder, made when it is not there. One that version 0.2 left beside the database is moved first.
 *
 * @throws the file system's errors, and an Error when two different keys are there
 */
export function keepMasterKey(dataDir: string): string {
  // Others may pass through the data folder but not list it: the embedded database's user has to, when we are root.
  mkdirSync(dataDir, { recursive: true, mode: 0o711 })
  mkdirSync(join(dataDir, keyFolder), { recursive: true, mode: 0o700 })
  moveFormerKey(dataDir)
  return keep(masterKeyFile(dataDir), () => randomBytes(32).toString('base64'))
}

/**
 * The key is in its new place for good before it leaves the old one: a start that is cut off in between leaves it in both, and
 * the next one goes on. Several starts may do so at once.
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
 * Makes a file that is complete from the moment it is there and survives a power cut: what the database holds cannot be read
 * without its key. A file that is there already stays as it is.
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
