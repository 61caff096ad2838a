/**
 * The guides stay correct: their commands are run unchanged against a new `perkline serve`, and must print what the
 * guide shows. A fence of `sh` is run; the `json` or `text` fence after it, before the next heading, is its expected
 * output.
 */
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { chmod, mkdir, mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import process from 'node:process'
import { after, before, suite, type TestContext, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { type PerklineProcess, startProcess } from '../support/process.ts'
import { requireProgram } from '../support/require-program.ts'
import { type Shell, shells } from '../support/shells.ts'

const checkout = fileURLToPath(new URL('../..', import.meta.url))
const program = join(checkout, 'node_modules', '.bin')

type Fence = { kind: string; text: string; section: string }
type Step = { command: string; expected: Fence | null }

function stepsOf(markdown: string): Step[] {
  const fences: Fence[] = []
  let section = ''
  for (const [, heading, kind, text] of markdown.matchAll(/^(## .+)$|^```(\w+)\n([\s\S]*?)^```$/gm)) {
    if (heading !== undefined) section = heading
    else fences.push({ kind: kind ?? '', text: text ?? '', section })
  }
  return fences.flatMap((fence, index) => {
    if (fence.kind !== 'sh') return []
    const next = fences[index + 1]
    const belongs = next && next.kind !== 'sh' && next.section === fence.section
    return [{ command: fence.text, expected: belongs ? next : null }]
  })
}

/** Waits for the welcome text, which is printed shortly after the platform is ready. */
async function welcomed(platform: PerklineProcess): Promise<string> {
  while (!platform.output().includes('npm run reset')) await sleep(50)
  return platform.output()
}

/** Replaces the places where a guide tells its reader to insert what `npm start` printed. */
function withCredentials(command: string, url: string, welcome: string): string {
  const filled = command.replaceAll('http://127.0.0.1:8080', url)
  return filled.replaceAll(/'(clientId|secret) of (\w+)'/g, (_, what: string, partner: string) => {
    const line = new RegExp(`^ +${partner} +clientId (\\S+) +secret (\\S+)`, 'm').exec(welcome)
    assert.ok(line, `npm start shows no credentials of ${partner}`)
    return `'${what === 'clientId' ? line[1] : line[2]}'`
  })
}

const endOfStep = '--- end of step ---'
/**
 * npx takes four times as long as the commands themselves. So after the first step with npx, this function runs the
 * program from the PATH.
 */
const shortNpx = 'npx() { "$@"; }'

/** Runs the steps in one shell. @returns the output of each step */
async function run(steps: Step[], shell: Shell, platform: PerklineProcess, dataDir: string, welcome: string) {
  const first = steps.findIndex(({ command }) => command.includes('npx '))
  const script = steps
    .map(({ command }, index) => {
      const filled = `${withCredentials(command, platform.url, welcome)}\necho '${endOfStep}'`
      return index === first ? `${filled}\n${shortNpx}` : filled
    })
    .join('\n')
  const { stdout, stderr } = await shell.paste(script, {
    cwd: checkout,
    env: {
      PATH: `${program}:${process.env.PATH}`,
      PERKLINE_URL: platform.url,
      DATA_DIR: dataDir,
      HOME: dataDir,
      TMPDIR: dataDir,
    },
  })
  const printed = stdout.split(`${endOfStep}\n`)
  assert.equal(printed.length, steps.length + 1, `${stdout}\n${stderr}`)
  return { printed: printed.slice(0, -1), errors: stderr }
}

/** The status of each campaign by its id. */
async function campaigns(platform: PerklineProcess, dataDir: string): Promise<Record<string, string>> {
  const operatorKey = (await readFile(join(dataDir, 'operator.key'), 'utf8')).trim()
  const { body } = await platform.call('GET', '/admin/campaigns?pageSize=100', { token: operatorKey })
  return Object.fromEntries(
    body.data.map((campaign: { cashbackId: string; status: string }) => [campaign.cashbackId, campaign.status]),
  )
}

/** Compares two texts; `...` in the expected text stands for any output. */
function assertText(printed: string, expected: string): void {
  const pattern = expected
    .trim()
    .split('...')
    .map(part => part.replaceAll(/[.*+?^${}()|[\]\\]/g, '\\$&'))
    .join('[\\s\\S]*')
  assert.match(printed.trim(), new RegExp(`^${pattern}$`))
}

const forms: Record<string, RegExp> = {
  '<uuid>': /^[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}$/,
  '<instant>': /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/,
  '<text>': /./,
}

/**
 * Compares two values. Where the expected value is a placeholder such as `<uuid>`, the printed one must have that form.
 */
function assertJson(printed: unknown, expected: unknown, path = '$'): void {
  const form = typeof expected === 'string' ? forms[expected] : undefined
  if (form) assert.match(String(printed), form, path)
  else if (typeof expected !== 'object' || expected === null) assert.deepEqual(printed, expected, path)
  else {
    assert.deepEqual(Object.keys(printed as object).sort(), Object.keys(expected).sort(), path)
    for (const [name, value] of Object.entries(expected))
      assertJson((printed as Record<string, unknown>)[name], value, `${path}.${name}`)
  }
}

let copies = 0

type FirstStart = { dataDir: string; welcome: string }

/**
 * Makes a first start and returns its data folder and its output. A first start takes most of a short guide's time, so
 * each guide uses a copy of this one.
 */
async function startFirst(folder: string): Promise<FirstStart> {
  const dataDir = join(folder, 'first')
  await mkdir(dataDir, { mode: 0o711 })
  const platform = await startProcess({ DATA_DIR: dataDir })
  const welcome = await welcomed(platform)
  assert.equal(await platform.stop(), 0)
  return { dataDir, welcome }
}

/** Runs the steps of a guide on a new platform, as a reader does who has just started it. */
async function follow(
  t: TestContext,
  steps: Step[],
  shell: Shell,
  { dataDir: first, welcome }: FirstStart,
): Promise<void> {
  const dataDir = `${first}-${++copies}`
  // `cp -a` keeps the owner: if this process is root, the files of the server belong to another user.
  spawnSync('cp', ['-a', first, dataDir])
  const platform = await startProcess({ DATA_DIR: dataDir })
  t.after(async () => {
    await platform.stop()
    await rm(dataDir, { recursive: true, force: true, maxRetries: 5, retryDelay: 100 })
  })
  const before = await campaigns(platform, dataDir)
  const { printed, errors } = await run(steps, shell, platform, dataDir, welcome)
  for (const [index, { command, expected }] of steps.entries()) {
    const text = printed[index] ?? ''
    try {
      if (expected?.kind === 'text') assertText(text, expected.text)
      // If a step prints several answers, the guide shows the first one.
      if (expected?.kind === 'json')
        assertJson(JSON.parse(text.trim().split('\n', 1).join()), JSON.parse(expected.text))
    } catch (error) {
      throw new Error(`${shell.name}: ${command}\nprinted:\n${text}\n${errors}`, { cause: error })
    }
  }
  const after = await campaigns(platform, dataDir)
  for (const [id, status] of Object.entries(before)) assert.equal(after[id], status, 'a sample campaign has changed')
  assert.equal((await platform.call('GET', '/sandbox/clock')).body.offsetSeconds, 0)
}

suite('the guides', () => {
  let folder: string
  let first: FirstStart
  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'perkline-guides-'))
    await chmod(folder, 0o711)
    first = await startFirst(folder)
  })
  after(() => rm(folder, { recursive: true, force: true, maxRetries: 5, retryDelay: 100 }))

  for (const guide of [
    'guide-administrator.md',
    'guide-bank.md',
    'guide-merchant.md',
    'guide-operator.md',
    'guide-reconcile-your-day.md',
    'selling-esims.md',
  ])
    for (const shell of shells)
      test(`${guide}: every command runs in ${shell.name}, answers as it says, and leaves the samples alone`, async t => {
        if (!shell.needs.every(name => requireProgram(t, name))) return
        const steps = stepsOf(await readFile(join(checkout, 'docs', guide), 'utf8'))
        assert.ok(steps.some(({ expected }) => expected !== null))
        await follow(t, steps, shell, first)
      })
})
