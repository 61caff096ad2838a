import { LineCounter, parseDocument } from 'yaml'
import { type DirectoryContext, directoryForm, type Reference } from './directory-schema.ts'
import type { Reading } from './yaml-form.ts'

/** The directory as the file states it, every default filled in; the rules and defaults stand in directory-schema.ts. */
export type Directory = ReturnType<ReturnType<typeof directoryForm>>

/**
 * What a faultless file gives: the directory; the codes it refers to, to be looked up in it and in what was applied
 * before; and the line of each entry by its path (`banks[1]`, `esim.operators[0].tariffs[2]`), for faults that only the
 * database shows.
 */
export type DirectoryFile = { directory: Directory; references: Reference[]; entryLines: ReadonlyMap<string, number> }

const clearer = new Map<string, string>([
  ['MULTIPLE_DOCS', 'must be one YAML document'],
  ['RESOURCE_EXHAUSTION', 'must not be nested so deep'],
])
const maxCharacters = 16 * 1024 * 1024

/**
 * Reads the directory file (operations.md, "The directory file"), YAML 1.2. `files` holds the texts of the terminalsFile
 * entries by their path as the YAML writes it. Gives what the file states, or every fault with its path and line.
 */
export function readDirectory(
  yamlText: string,
  files: ReadonlyMap<string, string>,
): DirectoryFile | { faults: string[] } {
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

function read(yamlText: string, fileText: DirectoryContext['fileText']): DirectoryFile | { faults: string[] } {
  if (yamlText.length > maxCharacters) return { faults: ['line 1: must be a file of at most 16 MiB'] }
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
  if (syntaxFaults.length > 0) return { faults: [...new Set(syntaxFaults)] }

  const reading: Reading = { faults: [], entryLines: new Map(), lineAt }
  const references: Reference[] = []
  const directory = directoryForm({ references, fileText })(document.contents, { path: '', line: 1, reading })
  if (reading.faults.length > 0) return { faults: reading.faults }
  return { directory, references, entryLines: reading.entryLines }
}
