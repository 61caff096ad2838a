/** The guide's code checks what the platform has really sent, in the languages that are installed here. */
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, type TestContext, test } from 'node:test'
import { pathToFileURL } from 'node:url'
import { openBank } from '../../support/esim.ts'
import { startPlatform } from '../../support/platform.ts'
import { pathOf, requireProgram } from '../../support/require-program.ts'

type Case = { secret: string; body: string; now: number; genuine: boolean; headers: Record<string, string> }
let cases: Case[]
let folder: string
let guide: string

before(async () => {
  folder = await mkdtemp(join(tmpdir(), 'perkline-guide-'))
  guide = await readFile(new URL('../../../docs/guide-events.md', import.meta.url), 'utf8')
  cases = casesOf(await receiveOne())
})
after(() => rm(folder, { recursive: true, force: true }))

type Received = { headers: Record<string, string>; body: string; oldSecret: string; newSecret: string }

/** Receives one request that the platform sends while the old and the new secret are both valid. */
async function receiveOne(): Promise<Received> {
  const got = Promise.withResolvers<Pick<Received, 'headers' | 'body'>>()
  const receiver = createServer(async (request, response) => {
    const chunks: Buffer[] = []
    for await (const chunk of request) chunks.push(chunk)
    response.writeHead(204).end()
    const headers = Object.entries(request.headers).filter(([name]) => name.startsWith('webhook-'))
    got.resolve({
      headers: Object.fromEntries(headers) as Record<string, string>,
      body: Buffer.concat(chunks).toString(),
    })
  })
  await new Promise<void>(resolve => receiver.listen(0, '127.0.0.1', resolve))
  const platform = await startPlatform()
  try {
    await platform.addStock('kyivstar', 'eu-10gb', 2)
    const bank = await openBank(platform)
    const call = async (path: string, body: object) =>
      (await platform.call('POST', `/partner/v1/webhook-endpoints${path}`, { token: bank.token, body })).body
    const url = `http://127.0.0.1:${(receiver.address() as AddressInfo).port}/`
    const { endpointId, secret: oldSecret } = await call('', { url, eventTypes: ['order.*'] })
    const { secret: newSecret } = await call(`/${endpointId}/rotate-secret`, {})
    const reserved = await bank.reserve('Оплата-42')
    assert.equal(reserved.status, 201, reserved.text)
    await bank.cancel(reserved.body.orderId)
    return { ...(await got.promise), oldSecret, newSecret }
  } finally {
    await platform.close()
    receiver.closeAllConnections()
    receiver.close()
  }
}

/**
 * Makes the cases: the request is genuine under both secrets, but not with another body, secret or time, nor with
 * headers that a forger may send.
 */
function casesOf({ headers, body, oldSecret, newSecret }: Received): Case[] {
  const sentAt = Number(headers['webhook-timestamp'])
  const genuine = { secret: oldSecret, body, now: sentAt + 10, genuine: true, headers }
  const { 'webhook-id': _, ...withoutId } = headers
  return [
    genuine,
    { ...genuine, secret: newSecret },
    ...[
      { body: `${body} ` },
      { secret: `whsec_${randomBytes(32).toString('base64')}` },
      { now: sentAt + 301 },
      { now: sentAt - 301 },
      { headers: withoutId },
      { headers: { ...headers, 'webhook-signature': 'v1,é' } },
      { headers: { ...headers, 'webhook-timestamp': '²' } },
      { headers: {} },
    ].map(forged => ({ ...genuine, ...forged, genuine: false })),
  ]
}

const codeOf = (language: string): string => {
  const [, code] = new RegExp(`\`\`\`${language}\\n([\\s\\S]*?)\`\`\``).exec(guide) ?? []
  assert.ok(code, `the guide has no ${language}`)
  return code
}
const expected = () => cases.map(({ genuine }) => genuine)
const base64 = (text: string) => Buffer.from(text).toString('base64')

function run(
  command: string,
  parameters: string[],
  options: { input?: string; env?: NodeJS.ProcessEnv } = {},
): boolean[] {
  const { stdout, stderr } = spawnSync(command, parameters, { encoding: 'utf8', ...options })
  const lines = stdout.trim().split('\n')
  assert.equal(lines.length, cases.length, stderr)
  return lines.map(line => line.toLowerCase() === 'true')
}

test('TypeScript', async () => {
  const file = join(folder, 'guide.ts')
  await writeFile(file, codeOf('ts'))
  const { isGenuine } = await import(pathToFileURL(file).href)
  const told = cases.map(({ secret, headers, body, now }) => isGenuine(secret, headers, body, now))
  assert.deepEqual(told, expected())
})

test('Python', async t => {
  if (!requireProgram(t, 'python3')) return
  const file = join(folder, 'guide.py')
  const main = `
import json, sys
for one in json.load(sys.stdin):
    print(is_genuine(one["secret"], one["headers"], one["body"].encode(), one["now"]))
`
  await writeFile(file, codeOf('python') + main)
  assert.deepEqual(run('python3', [file], { input: JSON.stringify(cases) }), expected())
})

/** True where the language is installed. Elsewhere, as in CI, the test is skipped. */
function hasLanguage(t: TestContext, program: string): boolean {
  if (pathOf([program]) !== undefined) return true
  t.skip(`${program} is not installed`)
  return false
}

test('Java', async t => {
  if (!hasLanguage(t, 'java')) return
  const calls = cases.map(({ secret, headers, body, now }) => {
    const map = Object.entries(headers).flatMap(pair => pair.map(text => JSON.stringify(text)))
    return `System.out.println(Webhooks.isGenuine("${secret}", Map.of(${map.join(', ')}), Base64.getDecoder().decode("${base64(body)}"), ${now}L));`
  })
  const main = `
final class Main {
  public static void main(String[] args) throws Exception {
    ${calls.join('\n    ')}
  }
}
`
  const [imports = '', ...rest] = codeOf('java').split(/(?=final class)/)
  const file = join(folder, 'Main.java')
  await writeFile(file, imports + main + rest.join(''))
  assert.deepEqual(run('java', ['-Dfile.encoding=UTF-8', file]), expected())
})

test('Go', async t => {
  if (!hasLanguage(t, 'go')) return
  const calls = cases.flatMap(({ secret, headers, body, now }) => [
    'headers = http.Header{}',
    ...Object.entries(headers).map(pair => `headers.Set(${pair.map(text => JSON.stringify(text)).join(', ')})`),
    `body, _ = base64.StdEncoding.DecodeString("${base64(body)}")`,
    `fmt.Println(IsGenuine("${secret}", headers, body, time.Unix(${now}, 0)))`,
  ])
  const main = `
func main() {
	var headers http.Header
	var body []byte
	${calls.join('\n\t')}
}
`
  const file = join(folder, 'main.go')
  const code = codeOf('go').replace('package webhooks', 'package main').replace('import (', 'import (\n\t"fmt"')
  await writeFile(file, code + main)
  const env = { ...process.env, GOFLAGS: '-mod=mod', GOCACHE: join(folder, 'cache') }
  assert.deepEqual(run('go', ['run', file], { env }), expected())
})
