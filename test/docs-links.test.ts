/** Every relative link in the documents leads to a file that exists. */
import assert from 'node:assert/strict'
import { existsSync, globSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'

const checkout = fileURLToPath(new URL('..', import.meta.url))
const documents = [
  ...globSync('*.md', { cwd: checkout }),
  ...globSync('docs/*.md', { cwd: checkout }),
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
