/** Rooms import each other in one direction only (ARCHITECTURE.md, "One way only"). */
import assert from 'node:assert/strict'
import { globSync, readFileSync } from 'node:fs'
import { dirname, join, relative } from 'node:path'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'

const checkout = fileURLToPath(new URL('../..', import.meta.url))

/** The rooms that each room imports, with one of the files that do so. A file outside of a folder is a room of its own. */
function importsOf(folder: string): Map<string, Map<string, string>> {
  const roomOf = (file: string) => relative(folder, file).split('/')[0] ?? ''
  const rooms = new Map<string, Map<string, string>>()
  for (const file of globSync(`${folder}/**/*.{ts,tsx}`, { cwd: checkout })) {
    const imported = rooms.get(roomOf(file)) ?? new Map<string, string>()
    rooms.set(roomOf(file), imported)
    const text = readFileSync(join(checkout, file), 'utf8')
    for (const [, path = ''] of text.matchAll(/(?:from|import\() ?'(\.[^']+)'/g)) {
      const room = roomOf(join(dirname(file), path))
      if (room !== roomOf(file)) imported.set(room, file)
    }
  }
  return rooms
}

/** Takes away rooms that import no other room, again and again. What is left imports itself over other rooms. */
function circlesOf(rooms: Map<string, Map<string, string>>): string[] {
  const left = new Map(rooms)
  const isFree = (room: string) => [...(left.get(room)?.keys() ?? [])].every(imported => !left.has(imported))
  for (let free = [...left.keys()].filter(isFree); free.length > 0; free = [...left.keys()].filter(isFree))
    for (const room of free) left.delete(room)
  return [...left].flatMap(([room, imported]) =>
    [...imported].flatMap(([other, file]) => (left.has(other) ? [`${room} -> ${other} (${file})`] : [])),
  )
}

for (const folder of ['src', 'portal/src'])
  test(`the rooms of ${folder} do not import each other in a circle`, () => {
    const rooms = importsOf(folder)
    assert.ok(rooms.size > 10)
    assert.deepEqual(circlesOf(rooms), [])
  })
