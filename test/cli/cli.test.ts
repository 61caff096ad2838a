/**
 * The command line without a platform: usage, messages and exit codes (contract/operations.md, "The command line").
 */
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { closeSync, existsSync, openSync, readFileSync, writeFileSync } from 'node:fs'
import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import process from 'node:process'
import { describe, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { settingsHelp } from '../../src/settings/help.ts'
import {
  against,
  assertFailed,
  filesOfTests,
  operatorKey,
  perkline,
  type ScriptedAnswer,
  startRawPlatform,
  startScriptedPlatform,
} from '../support/command.ts'

const program = fileURLToPath(new URL('../../bin/perkline', import.meta.url))
const { folder, write } = filesOfTests()
const stockFile = write('stock.csv', 'iccid,msisdn,pin1,activationCode\nfirst\n')
const importing = ['profiles', 'import', stockFile, '--operator', 'kyivstar', '--tariff', 'eu-10gb']

describe('help', () => {
  const commands = [
    '',
    'serve',
    'migrate',
    'apply',
    ...['credentials', 'credentials issue', 'credentials list', 'credentials rotate', 'credentials revoke'],
    ...['users', 'users add', 'users list', 'users disable', 'users erase'],
    ...['profiles', 'profiles import', 'profiles withdraw'],
    'stock',
    'audit',
    'keys rotate',
    'keys fingerprint',
    ...['health', 'doctor', 'support-bundle', 'backup verify'],
  ]
  test('every command has help, which names --json', async () => {
    for (const command of commands) {
      const words = command === '' ? [] : command.split(' ')
      const result = await perkline([...words, '--help'])
      assert.equal(result.code, 0)
      assert.match(result.stdout, new RegExp(`^Usage: perkline ${command}`))
      assert.match(result.stdout, /--json/)
      assert.deepEqual(await perkline(['help', ...words]), result)
    }
  })

  test('help settings lists every setting with its default', async () => {
    const { code, stdout } = await perkline(['help', 'settings'])
    assert.equal(code, 0)
    for (const { name, byDefault } of settingsHelp)
      assert.ok(stdout.split('\n').some(line => line.startsWith(`${name} `) && line.includes(` ${byDefault} `)))
    assert.deepEqual(JSON.parse((await perkline(['help', 'settings', '--json'])).stdout), settingsHelp)
  })

  test('--version tells the version', async () => {
    const { version } = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8'))
    assert.equal((await perkline(['--version'])).stdout, `${version}\n`)
  })
})

describe('wrong usage exits with 2 and says what is right', () => {
  const rejecting = [...importing, '--rejects', join(folder, 'r.csv')]
  const cases: [args: string[], message: RegExp][] = [
    [['stok'], /^Unknown command 'stok'\n\(Did you mean stock\?\)\nSee: perkline --help\n$/],
    [['stock', '--jsn'], /^Unknown option '--jsn'/],
    [['apply'], /^Missing required argument 'FILE.yaml'/],
    [['apply', 'a.yaml', 'b.yaml'], /^Too many arguments/],
    [['apply', ''], /must not be empty/],
    [['audit-log', 'list', '--object', 'credential:'], /must have a type and an id/],
    [['audit-log', 'list', '--object', ':pk_1'], /must have a type and an id/],
    [['audit-log', 'list', '--object', ':'], /must have a type and an id/],
    [['audit-log', 'list', '--object', ''], /must not be empty/],
    [['serve', '--only', 'esim,shop'], /must name some of auth, cashback, esim, partner, portal, admin, worker/],
    [['credentials', 'isue'], /^Unknown command 'isue'/],
    [['credentials', 'issue'], /either --bank CODE or --merchant CODE/],
    [
      ['credentials', 'issue', '--bank', 'a', '--merchant', 'b', '--role', 'ADMIN'],
      /either --bank CODE or --merchant CODE/,
    ],
    [['credentials', 'issue', '--bank', 'a'], /--role must be one of ADMIN, EDITOR, VIEWER/],
    [['credentials', 'issue', '--bank', 'a', '--role', 'admin'], /--role must be one of ADMIN, EDITOR, VIEWER/],
    [['credentials', 'issue', '--merchant', 'a', '--role', 'ADMIN'], /--role goes with --bank only/],
    [['credentials', 'rotate', 'pk_1', '--overlap', '24h'], /ISO 8601 duration, like PT24H/],
    [['credentials', 'rotate', 'pk_1', '--overlap', 'PT24H1'], /ISO 8601 duration, like PT24H/],
    [
      ['credentials', 'issue', '--bank', 'a', '--bank', 'b', '--role', 'ADMIN'],
      /^Option '--bank <CODE>' must be given once/,
    ],
    [['users', 'add', '--login', 'l', '--role', 'editor'], /--merchant CODE, --bank CODE or --platform/],
    [
      ['users', 'add', '--platform', '--bank', 'a', '--login', 'l', '--role', 'admin'],
      /--merchant CODE, --bank CODE or --platform/,
    ],
    [['users', 'add', '--platform', '--role', 'admin'], /^Required option '--login <LOGIN>' not specified/],
    [['users', 'add', '--platform', '--login', 'l', '--role', 'ADMIN'], /--role must be one of admin, viewer here/],
    [['users', 'add', '--bank', 'a', '--login', 'l', '--role', 'admin'], /one of ADMIN, EDITOR, VIEWER here/],
    [['users', 'add', '--merchant', 'a', '--login', 'l', '--role', 'admin'], /one of admin_user, editor, viewer here/],
    [['users', 'add', '--platform', '--login', 'l', '--role', 'admin'], /password as the first line of standard input/],
    [['profiles', 'import', stockFile, '--operator', 'kyivstar'], /^Required option '--tariff <CODE>'/],
    [rejecting, /--rejects goes with --skip-invalid/],
    [[...importing, '--skip-invalid', '--rejects', stockFile], /--rejects must name another file/],
    [[...importing, '--skip-invalid', '--rejects', folder], /--rejects must name a file/],
    [['profiles', 'withdraw'], /^Missing required argument 'ICCID'/],
    [['help', 'stok'], /no command stok/],
  ]
  for (const [args, message] of cases)
    test(`perkline ${args.map(arg => arg.replace(folder, '').replace(/^$/, "''")).join(' ')}`, async () => {
      assertFailed(await perkline(args), 2, message)
      assertFailed(await perkline([...args, '--json']), 2, message)
    })

  test('no command at all shows the help on stderr', async () => {
    assertFailed(await perkline([]), 2, /^Usage: perkline COMMAND/)
    assertFailed(await perkline(['credentials']), 2, /^Usage: perkline credentials/)
  })

  test('the stock file that --rejects named by mistake is unharmed', async () => {
    const content = readFileSync(stockFile, 'utf8')
    await perkline([...importing, '--skip-invalid', '--rejects', stockFile])
    assert.equal(readFileSync(stockFile, 'utf8'), content)
  })

  test('an invalid ICCID is named by its position, because ICCIDs are secrets', async () => {
    const result = await perkline(['profiles', 'withdraw', '8991101200003204514', '8991101200003204O22'])
    assertFailed(result, 2, /number 2 of those given is not/)
    assert.doesNotMatch(result.stderr, /89911/)
  })
})

describe('a platform that can’t be asked exits with 1', () => {
  test('nothing listens: the message names the address and PERKLINE_URL', async () => {
    for (const args of [['stock'], ['stock', '--json'], importing, ['keys', 'rotate']])
      assertFailed(
        await perkline(args),
        1,
        /^Can’t reach the platform at http:\/\/127\.0\.0\.1:1: nothing .*PERKLINE_URL=http/,
      )
  })

  test('a password in the address stays unsaid', async () => {
    const result = await perkline(['stock'], { env: { PERKLINE_URL: 'http://me:hunter2@127.0.0.1:1' } })
    assertFailed(result, 1, /at http:\/\/127\.0\.0\.1:1:/)
    assert.doesNotMatch(result.stderr, /hunter2/)
  })

  test('faults of the settings', async () => {
    assertFailed(await perkline(['stock'], { env: { PERKLINE_URL: 'nonsense' } }), 1, /PERKLINE_URL must be a URL/)
    assertFailed(await perkline(['stock'], { env: { PERKLINE_URL: 'ftp://127.0.0.1' } }), 1, /must start with http/)
    assertFailed(
      await perkline(['stock'], { env: { OPERATOR_KEY: '' }, cwd: folder }),
      1,
      /no operator's key: neither OPERATOR_KEY nor OPERATOR_KEY_FILE is set, and .*data\/operator\.key does not exist/,
    )
    assertFailed(await perkline(['stock'], { env: { PERKLINE_URL: 'http://10.0.0.1' } }), 1, /must start with https:/)
  })

  test('an https address of a platform that speaks http', async () => {
    const platform = await startScriptedPlatform(() => ({ json: [] }))
    const env = { PERKLINE_URL: platform.url.replace('http:', 'https:') }
    assertFailed(await perkline(['stock'], { env }), 1, /does not speak https/)
    await platform.close()
  })

  test('the key is read from DATA_DIR, and .env is not read', async () => {
    const cwd = join(folder, 'with-settings')
    await mkdir(join(cwd, 'kept'), { recursive: true })
    writeFileSync(join(cwd, 'kept', 'operator.key'), 'key-of-the-data-folder\n')
    const platform = await startScriptedPlatform(() => ({ json: [] }))
    writeFileSync(join(cwd, '.env'), `DATA_DIR=./kept\nPERKLINE_URL=${platform.url}\n`)
    const without = await perkline(['stock'], { cwd, env: { OPERATOR_KEY: '', PERKLINE_URL: platform.url } })
    const env = { OPERATOR_KEY: '', PERKLINE_URL: platform.url, DATA_DIR: './kept' }
    const { code } = await perkline(['stock'], { cwd, env })
    await platform.close()
    assertFailed(without, 1, /no operator's key/)
    assert.equal(code, 0)
    assert.deepEqual(
      platform.seen.map(({ headers }) => headers.authorization),
      ['Bearer key-of-the-data-folder'],
    )
  })

  test('a folder called .env is ignored', async () => {
    const cwd = join(folder, 'with-a-folder')
    await mkdir(join(cwd, '.env'), { recursive: true })
    const platform = await startScriptedPlatform(() => ({ json: [] }))
    const run = await perkline(['stock'], { cwd, env: { PERKLINE_URL: platform.url } })
    await platform.close()
    assert.equal(run.code, 0, run.stderr)
  })
})

describe('what the platform answers', () => {
  const body = (statusCode: number, message: unknown) => ({
    status: statusCode,
    json: { statusCode, message, error: '' },
  })

  test('401: the operator’s key is wrong', async () => {
    assertFailed(
      await against(body(401, 'no'), ['stock']),
      1,
      /did not accept the operator’s key: OPERATOR_KEY is wrong/,
    )
    assertFailed(await perkline(['stock'], { env: { OPERATOR_KEY: 'schlüssel' } }), 1, /OPERATOR_KEY is wrong/)
  })

  test('a refusal exits with 1 and its message, and nothing on stdout', async () => {
    const args = ['credentials', 'revoke', 'pk_1', '--json']
    assertFailed(
      await against(body(404, 'No credential has the clientId pk_1'), args),
      1,
      /^No credential has the .* pk_1\n$/,
    )
  })

  test('400 faults stand on 400 lines', async () => {
    const file = write('faulty.yaml', 'banks: []\n')
    const faults = Array.from({ length: 400 }, (_, index) => `banks[${index}].code (line ${index + 2}): must be given`)
    const { code, stdout, stderr } = await against(body(400, faults), ['apply', file])
    assert.equal(code, 1)
    assert.equal(stdout, '')
    const [heading, ...lines] = stderr.trimEnd().split('\n')
    assert.equal(heading, `${file} can’t be applied, so nothing was changed:`)
    assert.deepEqual(
      lines,
      faults.map(fault => `  - ${fault}`),
    )
  })

  test('characters of others that control the terminal, or turn the direction of its text, never reach it', async () => {
    const refused = await against(body(409, 'The login \u001b[2Jx is taken'), ['stock'])
    assert.equal(refused.stderr, 'The login  [2Jx is taken\n')
    const user = {
      userId: 'u',
      login: 'a\u001b]0;x\u0007b\u202ec',
      role: 'admin',
      bank: null,
      merchant: null,
      disabledAt: null,
    }
    const listed = await against({ json: [{ ...user, createdAt: '2026-03-01T09:30:00.000Z' }] }, ['users', 'list'])
    assert.match(listed.stdout, /^a \]0;x b c {2}the platform {2}admin {2}2026-03-01 09:30/m)
  })

  test('broken books exit with 1: the checks on stdout, the failed ones on stderr', async () => {
    const checks = [
      { name: 'states', ok: true, detail: 'all known' },
      { name: 'sums', ok: false, detail: '1 profile too many' },
    ]
    const audited = await against({ json: { ok: false, checks } }, ['audit'])
    assert.deepEqual([audited.code, audited.stdout], [1, 'ok   states: all known\nFAIL sums: 1 profile too many\n'])
    assert.equal(audited.stderr, 'The audit failed: 1 check (sums).\n')
    const { code, stdout } = await against({ json: { ok: false, checks } }, ['audit', '--json'])
    assert.deepEqual([code, JSON.parse(stdout)], [1, { ok: false, checks }])
  })

  const strange: [name: string, answer: ScriptedAnswer, args: string[], message: RegExp][] = [
    ['a page', { text: '<html>' }, ['stock'], /did not come from Perkline/],
    [
      'an error page',
      { status: 502, text: '<html>' },
      ['stock'],
      /answered 502 Bad Gateway: please check PERKLINE_URL/,
    ],
    ['a redirection', { status: 301 }, ['stock'], /answered 301/],
    ['progress without a result', { text: '{"progress":{"done":1,"total":2}}\n' }, ['keys', 'rotate'], /broke off/],
    ['an import without a result', { text: '' }, importing, /broke off before the end. Please start the import again/],
    [
      'a fault half-way',
      { text: '{"error":"The rotation broke off"}\n' },
      ['keys', 'rotate'],
      /^The rotation broke off\n/,
    ],
  ]
  for (const [name, answer, args, message] of strange)
    test(`${name} exits with 1 and a message`, async () => {
      assertFailed(await against(answer, args), 1, message)
    })

  test('a connection that breaks within the answer exits with 1 and a message', async () => {
    const platform = await startRawPlatform((request, response) => {
      request.resume()
      response.writeHead(200, { 'content-length': 100 })
      response.write('[')
      setTimeout(() => response.destroy(), 50)
    })
    for (const args of [['stock'], ['keys', 'rotate']])
      assertFailed(
        await perkline(args, { env: { PERKLINE_URL: platform.url } }),
        1,
        /broke before its answer was complete/,
      )
    await platform.close()
  })

  test('an unexpected fault shows its message, and its stack only with LOG_LEVEL=debug', async () => {
    const cwd = join(folder, 'odd')
    await mkdir(join(cwd, 'operator.key'), { recursive: true })
    const env = { OPERATOR_KEY: '', DATA_DIR: '.' }
    assertFailed(await perkline(['stock'], { cwd, env }), 1, /EISDIR/)
    assert.match((await perkline(['stock'], { cwd, env: { ...env, LOG_LEVEL: 'debug' } })).stderr, /^\s+at /m)
  })
})

test('an output that can’t be written says so in words', { skip: !existsSync('/dev/full') }, async () => {
  const platform = await startScriptedPlatform(() => ({ json: [] }))
  const full = openSync('/dev/full', 'w')
  const child = spawn(program, ['stock', '--json'], {
    cwd: folder,
    env: { PATH: process.env.PATH, OPERATOR_KEY: operatorKey, PERKLINE_URL: platform.url },
    stdio: ['ignore', full, 'pipe'],
  })
  let stderr = ''
  child.stderr?.on('data', part => {
    stderr += part
  })
  await once(child, 'close')
  closeSync(full)
  await platform.close()
  assert.deepEqual(
    [child.exitCode, stderr],
    [1, 'The output can’t be written: the disk is full. The command itself is done.\n'],
  )
})

test('a change whose answer is lost may be done, and the message says so', async () => {
  const platform = await startRawPlatform(request => request.socket.destroy())
  const env = { OPERATOR_KEY: operatorKey, PERKLINE_URL: platform.url }
  const warning = /the connection broke\..*\nIt may be done all the same: check that before you repeat it\.$/m
  try {
    assertFailed(await perkline(['credentials', 'rotate', 'pk_1'], { env }), 1, warning)
    const read = await perkline(['credentials', 'list'], { env })
    assert.match(read.stderr, /the connection broke/)
    assert.doesNotMatch(read.stderr, warning, 'reading changes nothing')
  } finally {
    await platform.close()
  }
})

test('a reader that goes away before the end gets no stack trace, and the exit code is 1', async () => {
  const stock = Array.from({ length: 20_000 }, (_, index) => ({ operatorCode: 'kyivstar', tariffCode: `t-${index}` }))
  const platform = await startScriptedPlatform(() => ({ json: stock }))
  const env = { PERKLINE_URL: platform.url }
  const result = await perkline(['stock', '--json'], { env, onStart: child => child.stdout?.destroy() })
  await platform.close()
  assert.deepEqual([result.code, result.stderr], [1, 'Whoever reads the output went away before its end.\n'])
})
