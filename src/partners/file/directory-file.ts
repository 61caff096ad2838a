/** Reads a directory file from its YAML text. */
import { LineCounter, parseDocument } from 'yaml'
import {
  type DirectoryContext,
  directoryForm,
  type Entry,
  type GivenDelivery,
  type Reference,
} from './directory-schema.ts'
import { addError, type FoundErrors, noErrors } from './found-errors.ts'
import type { Reading } from './yaml-form.ts'

/** The content of a directory file. Absent fields are undefined. `directory-schema.ts` has the rules. */
export type Directory = ReturnType<ReturnType<typeof directoryForm>>

/**
 * The claims of a file: codes that must exist, and ids that must not differ from the stored ones. Checking them needs
 * the database. `deliveries` are places for errors.
 */
export type DirectoryClaims = { references: Reference[]; entries: Entry[]; deliveries: GivenDelivery[] }

export type DirectoryFile = DirectoryClaims & { directory: Directory }

/**
 * The result for a file with errors. It also has the entries and references that could be read, so that
 * the caller can report all errors together.
 */
export type InvalidDirectoryFile = DirectoryClaims & FoundErrors

const clearer = new Map<string, string>([
  ['MULTIPLE_DOCS', 'must be one YAML document'],
  ['RESOURCE_EXHAUSTION', 'must not be nested so deep'],
])
const maxCharacters = 16 * 1024 * 1024

/**
 * Reads a directory file, YAML 1.2 (contract/operations.md, "The directory file").
 *
 * @param files the content of each terminals file, by its path as the YAML text writes it in `terminalsFile`
 * @returns the content, or the errors, each with its path and line
 */
export function readDirectory(
  yamlText: string,
  files: ReadonlyMap<string, string>,
): DirectoryFile | InvalidDirectoryFile {
  return read(yamlText, path => files.get(path))
}

/**
 * The paths in all keys `terminalsFile`, as written and without duplicates. `readDirectory` needs the content of
 * these files.
 */
export function terminalsFilesOf(yamlText: string): string[] {
  const paths = new Set<string>()
  read(yamlText, path => {
    paths.add(path)
    return undefined
  })
  return [...paths]
}

function read(yamlText: string, fileText: DirectoryContext['fileText']): DirectoryFile | InvalidDirectoryFile {
  const claims: DirectoryClaims = { references: [], entries: [], deliveries: [] }
  const found = noErrors()
  if (yamlText.length > maxCharacters) {
    addError(found, 'line 1: must be a file of at most 16 MiB')
    return { ...claims, ...found }
  }
  const lines = new LineCounter()
  const lineAt = (offset: number) => lines.linePos(offset).line
  // The option `uniqueKeys` is off: the library compares each key with all other keys of its mapping, which takes a
  // minute for 50,000 keys. `mapping` finds duplicate keys instead.
  const document = parseDocument(yamlText, {
    version: '1.2',
    schema: 'core',
    uniqueKeys: false,
    prettyErrors: false,
    lineCounter: lines,
  })
  const syntaxErrors = [...document.errors, ...document.warnings].map(
    ({ code, message, pos }) => `line ${lineAt(pos[0])}: ${clearer.get(code) ?? message}`,
  )
  for (const error of new Set(syntaxErrors)) addError(found, error)
  if (found.errorCount > 0) return { ...claims, ...found }

  const reading: Reading = { found, missing: [], lineAt }
  const directory = directoryForm({ ...claims, fileText })(document.contents, { path: '', line: 1, reading })
  return found.errorCount > 0 ? { ...claims, ...found } : { ...claims, directory }
}
