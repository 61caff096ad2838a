/** Every relative link in the documents leads to a file that exists, every citation in the code to a heading of docs/contract,
 * and the tree of ARCHITECTURE.md shows every folder. */
import assert from 'node:assert/strict'
import { existsSync, globSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'

const checkout = fileURLToPath(new URL('../..', import.meta.url))
const documents = [
  ...globSync('*.md', { cwd: checkout }),
  ...globSync('docs/**/*.md', { cwd: checkout }),
  'portal/README.md',
]

test('every relative link leads to a file that exists', () => {
  let links = 0
  for (const document of documents) {
    const text = readFileSync(join(checkout, document), 'utf8').replace(/```.*?```/gs, '')
    for (const [, target = ''] of text.matchAll(/\]\(([^)\s]+)\)/g)) {
      if (/^[a-z]+:|^#/.test(target)) continue
      links++
      const path = join(dirname(join(checkout, document)), target.replace(/#.*$/, ''))
      assert.ok(existsSync(path), `${document} links to ${target}`)
    }
  }
  assert.ok(links > 20)
})

test('every citation of docs/contract in the code leads to a heading that exists', () => {
  const headings = new Map(
    globSync('docs/contract/*.md', { cwd: checkout }).map(file => [
      file.replace(/^docs\//, ''),
      readFileSync(join(checkout, file), 'utf8')
        .split('\n')
        .filter(line => line.startsWith('#'))
        .map(line => line.replace(/^#+ /, '')),
    ]),
  )
  let citations = 0
  for (const file of globSync(['src/**/*.ts', 'test/**/*.ts', 'bench/**/*.ts', 'portal/src/**/*.{ts,tsx}'], {
    cwd: checkout,
  })) {
    // A citation may run over the end of a comment's line.
    const text = readFileSync(join(checkout, file), 'utf8').replace(/\n\s*(\*|\/\/) ?/g, ' ')
    for (const [, page = '', heading] of text.matchAll(/(?<![\w/])(contract\/[a-z-]+\.md)(?:, "([^"]+)")?/g)) {
      citations++
      assert.ok(headings.has(page), `${file} cites ${page}, which does not exist`)
      if (heading)
        assert.ok(headings.get(page)?.includes(heading), `${file} cites "${heading}" of ${page}, which does not exist`)
    }
    assert.doesNotMatch(
      text,
      /\b(behaviour|performance)\.md|(?<!contract\/)\b(operations|partner-api|security|reliability)\.md/,
      file,
    )
  }
  assert.ok(citations > 100)
})

test('the tree of ARCHITECTURE.md shows every folder of the server', () => {
  const tree = readFileSync(join(checkout, 'ARCHITECTURE.md'), 'utf8').split('```')[1] ?? ''
  const lines = tree.slice(tree.indexOf('\nsrc/\n') + 1).split('\n')
  const shown: string[] = []
  let room = ''
  for (const line of lines.slice(1)) {
    if (/^\S/.test(line)) break
    const [, indent = '', name = ''] = /^( +)([a-z-]+)\/ /.exec(line) ?? []
    if (name === '') continue
    if (indent.length === 2) room = name
    shown.push(indent.length === 2 ? name : `${room}/${name}`)
  }
  const folders = globSync('src/**/', { cwd: checkout })
    .map(folder => folder.replace(/^src\/?|\/$/g, ''))
    .filter(folder => folder !== '')
  assert.deepEqual(shown.sort(), folders.sort())
})
