/** The guide's code checks signatures of ours, in the languages that are installed here. */
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { pathToFileURL } from 'node:url'
import { makeSecret, shownSecret, signatures } from '../../src/webhooks/signing.ts'

const id = '019aa5a2-6d6c-7f3c-9a55-0f6d0a7c2b11'
const timestamp = 1_795_000_000
const body = '{"type":"order.expired","data":{"externalId":"Оплата 42"}}'
const secret = makeSecret()
const headers = {
  'webhook-id': id,
  'webhook-timestamp': String(timestamp),
  'webhook-signature': signatures([makeSecret(), secret], { id, timestamp, body }),
}
/** What must be told of each: genuine, changed body, other secret, too old. */
const cases = [
  { secret: shownSecret(secret), body, now: timestamp + 10, genuine: true },
  { secret: shownSecret(secret), body: `${body} `, now: timestamp, genuine: false },
  { secret: shownSecret(makeSecret()), body, now: timestamp, genuine: false },
  { secret: shownSecret(secret), body, now: timestamp + 301, genuine: false },
]
let folder: string
let guide: string

before(async () => {
  folder = await mkdtemp(join(tmpdir(), 'perkline-guide-'))
  guide = await readFile(new URL('../../docs/guide-events.md', import.meta.url), 'utf8')
})
after(() => rm(folder, { recursive: true, force: true }))

const codeOf = (language: string): string => {
  const [, code] = new RegExp(`\`\`\`${language}\\n([\\s\\S]*?)\`\`\``).exec(guide) ?? []
  assert.ok(code, `the guide has no ${language}`)
  return code
}
const isInstalled = (command: string, argument: string) => spawnSync(command, [argument]).status === 0

test('TypeScript', async () => {
  const file = join(folder, 'guide.ts')
  await writeFile(file, codeOf('ts'))
  const { isGenuine } = await import(pathToFileURL(file).href)
  for (const { genuine, now, ...given } of cases)
    assert.equal(isGenuine(given.secret, headers, given.body, now), genuine)
})

test('Python', { skip: !isInstalled('python3', '--version') }, async () => {
  const file = join(folder, 'guide.py')
  const main = `
import json, sys
given = json.load(sys.stdin)
print(json.dumps([is_genuine(one["secret"], given["headers"], one["body"].encode(), one["now"]) for one in given["cases"]]))
`
  await writeFile(file, codeOf('python') + main)
  const { stdout, stderr } = spawnSync('python3', [file], {
    input: JSON.stringify({ headers, cases }),
    encoding: 'utf8',
  })
  assert.deepEqual(
    JSON.parse(stdout || 'null'),
    cases.map(({ genuine }) => genuine),
    stderr,
  )
})

const base64 = (text: string) => Buffer.from(text).toString('base64')

test('Java', { skip: !isInstalled('java', '-version') }, async () => {
  const calls = cases.map(
    one =>
      `System.out.println(Webhooks.isGenuine("${one.secret}", headers, java.util.Base64.getDecoder().decode("${base64(one.body)}"), ${one.now}L));`,
  )
  const main = `
final class Main {
  public static void main(String[] args) throws Exception {
    Map<String, String> headers = Map.of(${Object.entries(headers)
      .flat()
      .map(text => JSON.stringify(text))
      .join(', ')});
    ${calls.join('\n    ')}
  }
}
`
  const [imports = '', ...rest] = codeOf('java').split(/(?=final class)/)
  const file = join(folder, 'Main.java')
  await writeFile(file, imports + main + rest.join(''))
  const { stdout, stderr } = spawnSync('java', [file], { encoding: 'utf8' })
  assert.deepEqual(
    stdout.trim().split('\n'),
    cases.map(({ genuine }) => String(genuine)),
    stderr,
  )
})

test('Go', { skip: !isInstalled('go', 'version') }, async () => {
  const calls = cases.map(
    one =>
      `body, _ = base64.StdEncoding.DecodeString("${base64(one.body)}")\n\tfmt.Println(IsGenuine("${one.secret}", headers, body, time.Unix(${one.now}, 0)))`,
  )
  const sets = Object.entries(headers).map(
    ([name, value]) => `headers.Set(${JSON.stringify(name)}, ${JSON.stringify(value)})`,
  )
  const main = `
func main() {
	headers := http.Header{}
	var body []byte
	${[...sets, ...calls].join('\n\t')}
}
`
  const file = join(folder, 'main.go')
  await writeFile(
    file,
    codeOf('go').replace('package webhooks', 'package main').replace('import (', 'import (\n\t"fmt"') + main,
  )
  const { stdout, stderr } = spawnSync('go', ['run', file], {
    encoding: 'utf8',
    env: { ...process.env, GOFLAGS: '-mod=mod', GOCACHE: join(folder, 'cache') },
  })
  assert.deepEqual(
    stdout.trim().split('\n'),
    cases.map(({ genuine }) => String(genuine)),
    stderr,
  )
})
