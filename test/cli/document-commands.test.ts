/**
 * Every `perkline` command in the operator's documents exists in that form; the commands of the runbook are run on a
 * platform.
 */
import assert from 'node:assert/strict'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { perkline } from '../support/command.ts'
import { startPlatform, type TestPlatform } from '../support/platform.ts'

const pages = [
  ...['runbook', 'operating', 'backup', 'upgrade', 'high-availability', 'hardening', 'sizing', 'data'],
  ...['contract/production', 'contract/operations'],
]
const read = (page: string): string => readFileSync(new URL(`../../docs/${page}.md`, import.meta.url), 'utf8')

/**
 * Returns the words of each command: from code blocks, whose lines may set variables first, and from code within
 * sentences.
 */
function commandsOf(text: string): string[][] {
  const blocks = [...text.matchAll(/^```\w*\n([\s\S]*?)^```/gm)].flatMap(([, block = '']) =>
    block.replaceAll('\\\n', ' ').split('\n'),
  )
  const spans = [...text.replaceAll(/^```\w*\n[\s\S]*?^```/gm, '').matchAll(/`([^`]+)`/g)].map(([, span = '']) =>
    span.replaceAll(/\s+/g, ' '),
  )
  return [...blocks, ...spans].flatMap(line => {
    const found = /^\s*(?:[A-Z_]+=\S+ )*(?:npx )?perkline (.+)$/.exec(line)
    return found ? [wordsOf(found[1] ?? '')] : []
  })
}

/** Splits a command into words. Leaves out the brackets and bars of a document: `[--option]` and `(--one | --other)`. */
const wordsOf = (line: string): string[] =>
  [...line.replaceAll(/\\\||[[\]()|]/g, ' ').matchAll(/"([^"]*)"|(\S+)/g)].map(
    ([, quoted, bare]) => quoted ?? bare ?? '',
  )

const helps = new Map<string, Promise<string | null>>()
/** @returns the help of a command; null when there is no such command */
function helpOf(words: readonly string[]): Promise<string | null> {
  const name = words.join(' ')
  const known = helps.get(name) ?? perkline(['help', ...words]).then(({ code, stdout }) => (code === 0 ? stdout : null))
  helps.set(name, known)
  return known
}

/** @returns the error of a command; null when it is correct */
async function faultOf(words: readonly string[]): Promise<string | null> {
  const plain = words.slice(
    0,
    [...words, '--'].findIndex(word => word.startsWith('-')),
  )
  const path = (await helpOf(plain.slice(0, 2))) === null ? plain.slice(0, 1) : plain.slice(0, 2)
  const help = await helpOf(path)
  if (help === null) return `there is no command ${path.join(' ')}`
  const missing = words.filter(word => /^--\w/.test(word) && !help.includes(word))
  return missing.length > 0 ? `${path.join(' ')} has no ${missing.join(', ')}` : null
}

for (const page of pages)
  test(`${page}: each command exists, with its options`, async () => {
    const faults: string[] = []
    for (const words of commandsOf(read(page))) {
      const fault = await faultOf(words)
      if (fault) faults.push(`perkline ${words.join(' ')}: ${fault}`)
    }
    assert.deepEqual(faults, [])
  })

describe('the runbook', () => {
  const folder = mkdtempSync(join(tmpdir(), 'perkline-runbook-'))
  let platform: TestPlatform
  before(async () => {
    platform = await startPlatform()
    writeFileSync(join(folder, 'customers.csv'), 'customerId\n100045\n')
  })
  after(async () => {
    await platform.close()
    rmSync(folder, { recursive: true })
  })
  const env = () => ({
    ...{ PERKLINE_URL: platform.url, PUBLIC_URL: platform.url, OPERATOR_KEY: platform.config.operatorKey },
    ...{ MASTER_KEY: Buffer.alloc(32, 1).toString('base64'), DATA_DIR: folder },
  })
  const run = (words: string[]) => perkline(words, { env: env(), cwd: folder })

  test('its commands run as they stand there', async () => {
    const { stdout } = await run(['credentials', 'issue', '--bank', 'alpha', '--role', 'ADMIN', '--json'])
    const { clientId } = JSON.parse(stdout)
    const values: Record<string, string> = {
      ...{ CLIENT_ID: clientId, CODE: 'alpha', ID: '100045', FILE: 'customers.csv', 'https://…': platform.url },
    }
    const given = commandsOf(read('runbook')).map(words => words.map(word => values[word] ?? word))
    assert.equal((await run(['customers', 'import', 'customers.csv', '--bank', 'alpha'])).code, 0)
    let ran = 0
    for (const words of given) {
      // Skips names of commands without arguments, and imports of stock files, which other tests run.
      if (
        words.some(word => word === 'FILE.csv') ||
        /^(?:credentials revoke|users disable|customers forget)$/.test(words.join(' '))
      )
        continue
      const { code, stderr } = await run(words)
      assert.deepEqual([code, stderr], [0, ''], `perkline ${words.join(' ')}`)
      ran++
    }
    assert.ok(ran >= 15, `${ran} ran`)
  })

  test('a client secret that leaked: what it had got is good for nothing within 10 seconds', async () => {
    const { stdout } = await run(['credentials', 'issue', '--bank', 'alpha', '--role', 'ADMIN', '--json'])
    const credential = JSON.parse(stdout)
    const token = (await platform.call('POST', '/getToken/auth', { body: credential })).body.access_token
    const status = async () => (await platform.call('GET', '/esim/v1/operators', { token })).status
    assert.equal(await status(), 200)
    assert.equal((await run(['credentials', 'rotate', credential.clientId, '--overlap', 'PT0S'])).code, 0)
    const giveUpAt = performance.now() + 10_000
    while ((await status()) !== 401) assert.ok(performance.now() < giveUpAt, 'the token still works')
  })
})
