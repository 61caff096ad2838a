import { LineCounter, parseDocument } from 'yaml'
import type { BrokenRule } from '../../error-rules.ts'
import type { Problem } from '../../errors.ts'
import { type DirectoryContext, directoryForm, type Entry, type Reference } from './directory-schema.ts'
import type { Reading } from './yaml-form.ts'

/** The directory as the file states it; fields that it leaves out are undefined. The rules stand in directory-schema.ts. */
export type Directory = ReturnType<ReturnType<typeof directoryForm>>

/** What the file says that only the directory in the database can prove right: codes that must exist, ids that must not differ. */
export type DirectoryClaims = { references: Reference[]; entries: Entry[] }

export type DirectoryFile = DirectoryClaims & { directory: Directory }

/**
 * The faults, and the claims that could be read all the same, so that their faults can be told together with these. `problems`: those of
 * the faults that stand in a terminals file.
 */
export type FaultyDirectoryFile = DirectoryClaims & { faults: (string | BrokenRule)[]; problems: Problem[] }

const clearer = new Map<string, string>([
  ['MULTIPLE_DOCS', 'must be one YAML document'],
  ['RESOURCE_EXHAUSTION', 'must not be nested so deep'],
])
const maxCharacters = 16 * 1024 * 1024

/**
 * Reads the directory file (contract/contract/contract/operations.md, "The directory file"), YAML 1.2. `files` holds the texts of the terminalsFile
 * entries by their path as the YAML writes it. Gives what the file states, or every fault with its path and line.
 */
export function readDirectory(
  yamlText: string,
  files: ReadonlyMap<string, string>,
): DirectoryFile | FaultyDirectoryFile {
  return read(yamlText, path => files.get(path))
}

/** The paths of all terminalsFile entries, as written, each once: what to load before `readDirectory`. */
export function terminalsFilesOf(yamlText: string): string[] {
  const paths = new Set<string>()
  read(yamlText, path => {
    paths.add(path)
    return undefined
  })
  return [...paths]
}

function read(yamlText: string, fileText: DirectoryContext['fileText']): DirectoryFile | FaultyDirectoryFile {
  const claims: DirectoryClaims = { references: [], entries: [] }
  if (yamlText.length > maxCharacters)
    return { ...claims, problems: [], faults: ['line 1: must be a file of at most 16 MiB'] }
  const lines = new LineCounter()
  const lineAt = (offset: number) => lines.linePos(offset).line
  // No uniqueKeys: the library compares each key with every other of its mapping, a minute's work for 50,000 keys;
  // the form finds the doubles.
  const document = parseDocument(yamlText, {
    version: '1.2',
    schema: 'core',
    uniqueKeys: false,
    prettyErrors: false,
    lineCounter: lines,
  })
  const syntaxFaults = [...document.errors, ...document.warnings].map(
    ({ code, message, pos }) => `line ${lineAt(pos[0])}: ${clearer.get(code) ?? message}`,
  )
  if (syntaxFaults.length > 0) return { ...claims, problems: [], faults: [...new Set(syntaxFaults)] }

  const reading: Reading = { faults: [], problems: [], missing: [], lineAt }
  const directory = directoryForm({ ...claims, fileText })(document.contents, { path: '', line: 1, reading })
  if (reading.faults.length > 0) return { ...claims, faults: reading.faults, problems: reading.problems }
  return { ...claims, directory }
}
