/**
 * The command line without a platform: usage, messages, exit codes, and the requests that it sends
 * (contract/operations.md, "The command line").
 */
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import {
  closeSync,
  existsSync,
  mkdtempSync,
  openSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { mkdir } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import process from 'node:process'
import { after, describe, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { settingsHelp } from '../../src/settings/help.ts'
import {
  type CommandResult,
  operatorKey,
  perkline,
  type ScriptedAnswer,
  type SeenRequest,
  startRawPlatform,
  startScriptedPlatform,
} from '../support/command.ts'

const program = fileURLToPath(new URL('../../bin/perkline', import.meta.url))
const folder = mkdtempSync(join(tmpdir(), 'perkline-cli-'))
after(() => rmSync(folder, { recursive: true }))
const write = (name: string, content: string | Uint8Array): string => {
  const path = join(folder, name)
  writeFileSync(path, content)
  return path
}
const stockFile = write('stock.csv', 'iccid,msisdn,pin1,activationCode\nfirst\n')
const importing = ['profiles', 'import', stockFile, '--operator', 'kyivstar', '--tariff', 'eu-10gb']

/** Runs a command against a server that gives this answer. */
async function against(
  answer: ScriptedAnswer | ((request: SeenRequest) => ScriptedAnswer),
  args: string[],
  input = '',
) {
  const platform = await startScriptedPlatform(typeof answer === 'function' ? answer : () => answer)
  try {
    const result = await perkline(args, { input, env: { PERKLINE_URL: platform.url } })
    return { ...result, seen: platform.seen, url: platform.url }
  } finally {
    await platform.close()
  }
}

const noStack = ({ stderr }: CommandResult) => assert.doesNotMatch(stderr, /^\s+at /m)
const failed = (result: CommandResult, code: 1 | 2, message: RegExp) => {
  assert.equal(result.code, code, result.stderr)
  assert.equal(result.stdout, '')
  assert.match(result.stderr, message)
  noStack(result)
}

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
      failed(await perkline(args), 2, message)
      failed(await perkline([...args, '--json']), 2, message)
    })

  test('no command at all shows the help on stderr', async () => {
    failed(await perkline([]), 2, /^Usage: perkline COMMAND/)
    failed(await perkline(['credentials']), 2, /^Usage: perkline credentials/)
  })

  test('the stock file that --rejects named by mistake is unharmed', async () => {
    const content = readFileSync(stockFile, 'utf8')
    await perkline([...importing, '--skip-invalid', '--rejects', stockFile])
    assert.equal(readFileSync(stockFile, 'utf8'), content)
  })

  test('an ICCID that is none is told by its place: ICCIDs are secrets', async () => {
    const result = await perkline(['profiles', 'withdraw', '8991101200003204514', '8991101200003204O22'])
    failed(result, 2, /number 2 of those given is not/)
    assert.doesNotMatch(result.stderr, /89911/)
  })
})

describe('a platform that can’t be asked exits with 1', () => {
  test('nothing listens: the message names the address and PERKLINE_URL', async () => {
    for (const args of [['stock'], ['stock', '--json'], importing, ['keys', 'rotate']])
      failed(
        await perkline(args),
        1,
        /^Can’t reach the platform at http:\/\/127\.0\.0\.1:1: nothing .*PERKLINE_URL=http/,
      )
  })

  test('a password in the address stays unsaid', async () => {
    const result = await perkline(['stock'], { env: { PERKLINE_URL: 'http://me:hunter2@127.0.0.1:1' } })
    failed(result, 1, /at http:\/\/127\.0\.0\.1:1:/)
    assert.doesNotMatch(result.stderr, /hunter2/)
  })

  test('faults of the settings', async () => {
    failed(await perkline(['stock'], { env: { PERKLINE_URL: 'nonsense' } }), 1, /PERKLINE_URL must be a URL/)
    failed(await perkline(['stock'], { env: { PERKLINE_URL: 'ftp://127.0.0.1' } }), 1, /must start with http/)
    failed(
      await perkline(['stock'], { env: { OPERATOR_KEY: '' }, cwd: folder }),
      1,
      /no operator's key: neither OPERATOR_KEY nor OPERATOR_KEY_FILE is set, and .*data\/operator\.key does not exist/,
    )
    failed(await perkline(['stock'], { env: { PERKLINE_URL: 'http://10.0.0.1' } }), 1, /must start with https:/)
  })

  test('an https address of a platform that speaks http', async () => {
    const platform = await startScriptedPlatform(() => ({ json: [] }))
    const env = { PERKLINE_URL: platform.url.replace('http:', 'https:') }
    failed(await perkline(['stock'], { env }), 1, /does not speak https/)
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
    failed(without, 1, /no operator's key/)
    assert.equal(code, 0)
    assert.deepEqual(
      platform.seen.map(({ headers }) => headers.authorization),
      ['Bearer key-of-the-data-folder'],
    )
  })

  test('a folder called .env is no settings', async () => {
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
    failed(await against(body(401, 'no'), ['stock']), 1, /did not accept the operator’s key: OPERATOR_KEY is wrong/)
    failed(await perkline(['stock'], { env: { OPERATOR_KEY: 'schlüssel' } }), 1, /OPERATOR_KEY is wrong/)
  })

  test('a refusal exits with 1 and its message, and nothing on stdout', async () => {
    const args = ['credentials', 'revoke', 'pk_1', '--json']
    failed(
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

  test('control characters of others never reach the terminal', async () => {
    const refused = await against(body(409, 'The login \u001b[2Jx is taken'), ['stock'])
    assert.equal(refused.stderr, 'The login  [2Jx is taken\n')
    const user = {
      userId: 'u',
      login: 'a\u001b]0;x\u0007b',
      role: 'admin',
      bank: null,
      merchant: null,
      disabledAt: null,
    }
    const listed = await against({ json: [{ ...user, createdAt: '2026-03-01T09:30:00.000Z' }] }, ['users', 'list'])
    assert.match(listed.stdout, /^a \]0;x b {2}the platform {2}admin {2}2026-03-01 09:30/m)
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
      failed(await against(answer, args), 1, message)
    })

  test('a connection that breaks within the answer exits with 1 and a message', async () => {
    const platform = await startRawPlatform((request, response) => {
      request.resume()
      response.writeHead(200, { 'content-length': 100 })
      response.write('[')
      setTimeout(() => response.destroy(), 50)
    })
    for (const args of [['stock'], ['keys', 'rotate']])
      failed(await perkline(args, { env: { PERKLINE_URL: platform.url } }), 1, /broke before its answer was complete/)
    await platform.close()
  })

  test('an unexpected fault shows its message, and its stack only with LOG_LEVEL=debug', async () => {
    const cwd = join(folder, 'odd')
    await mkdir(join(cwd, 'operator.key'), { recursive: true })
    const env = { OPERATOR_KEY: '', DATA_DIR: '.' }
    failed(await perkline(['stock'], { cwd, env }), 1, /EISDIR/)
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
  assert.deepEqual([child.exitCode, stderr], [1, 'The output can’t be written: the disk is full.\n'])
})

test('a reader that goes away before the end gets no stack trace, and the exit code is 1', async () => {
  const stock = Array.from({ length: 20_000 }, (_, index) => ({ operatorCode: 'kyivstar', tariffCode: `t-${index}` }))
  const platform = await startScriptedPlatform(() => ({ json: stock }))
  const env = { PERKLINE_URL: platform.url }
  const result = await perkline(['stock', '--json'], { env, onStart: child => child.stdout?.destroy() })
  await platform.close()
  assert.deepEqual([result.code, result.stderr], [1, 'Whoever reads the output went away before its end.\n'])
})

describe('what a command sends', () => {
  const jsonOf = (seen: SeenRequest[]) => seen.map(({ body }) => JSON.parse(body.toString()))

  test('--json stands before the command or behind it', async () => {
    for (const args of [
      ['--json', 'credentials', 'list'],
      ['credentials', '--json', 'list'],
      ['credentials', 'list', '--json'],
    ])
      assert.equal((await against({ json: [] }, args)).stdout, '[]\n')
  })

  test('the operator’s key, to the path below PERKLINE_URL', async () => {
    const platform = await startScriptedPlatform(() => ({ json: [] }))
    await perkline(['stock'], { env: { PERKLINE_URL: `${platform.url}/inner/` } })
    await platform.close()
    const [request] = platform.seen
    assert.deepEqual([request?.method, request?.path], ['GET', '/inner/admin/stock'])
    assert.equal(request?.headers.authorization, `Bearer ${operatorKey}`)
  })

  test('the password is the first line of standard input, without its end, and is never shown', async () => {
    const args = ['users', 'add', '--bank', 'alpha', '--login', 'olena', '--role', 'EDITOR']
    for (const input of [' пароль 1 \n', ' пароль 1 \r\nsecond\n', ' пароль 1 ']) {
      const { code, stdout, stderr, seen } = await against({ status: 201, json: { userId: 'u-1' } }, args, input)
      assert.deepEqual([code, stderr], [0, ''])
      assert.doesNotMatch(stdout, /пароль/)
      assert.deepEqual(jsonOf(seen), [{ bank: 'alpha', login: 'olena', role: 'EDITOR', password: ' пароль 1 ' }])
    }
  })

  test('a login or clientId of any characters is one part of the path', async () => {
    const { seen } = await against({ json: { login: 'x' } }, ['users', 'disable', '../a b?c'])
    assert.equal(seen[0]?.path, '/admin/users/..%2Fa%20b%3Fc/disable')
  })

  test('ICCIDs each once, at most 10,000 in a request, the counts added up', async () => {
    const iccids = Array.from({ length: 10_002 }, (_, index) => String(8991101200000000000n + BigInt(index)))
    const args = ['profiles', 'withdraw', ...iccids, iccids[0] ?? '', '--json']
    const problems = [{ iccid: '0001', line: 2, reason: 'sold' }]
    const { stdout, seen } = await against({ json: { withdrawn: 7, notFree: 2, problems } }, args)
    const [problem] = problems
    const told = [problem, { ...problem, line: 10_002 }]
    assert.deepEqual(JSON.parse(stdout), { withdrawn: 14, notFree: 4, problems: told })
    assert.deepEqual(
      jsonOf(seen).map(({ iccids }) => iccids),
      [iccids.slice(0, 10_000), iccids.slice(10_000)],
    )
  })
})

describe('apply', () => {
  const changes = [
    { kind: 'bank', code: 'lumen', change: 'created', fields: { name: [null, 'Lumen'], segments: [null, true] } },
    {
      kind: 'merchant',
      code: 'grocer',
      change: 'updated',
      fields: {
        domain: [[], ['a.example', 'b.example']],
        description: ['One\ntwo', ''],
        terminals: { added: 2, removed: 0, changed: 1 },
      },
    },
    { kind: 'tariff', code: 'star/t', change: 'updated', fields: { price: [399, 449.5] } },
  ]
  const counts = { json: { created: 2, updated: 1, unchanged: 3, changes } }
  const listed = `bank lumen created
  name: Lumen
  segments: true
merchant grocer updated
  domain: (empty) -> a.example, b.example
  description: One two -> (empty)
  terminals: 2 added, 0 removed, 1 changed
tariff star/t updated
  price: 399 -> 449.5
`
  const yaml = (terminalsFile: string) =>
    write('directory.yaml', `merchants:\n  - { code: grocer, name: Grocer, terminalsFile: ${terminalsFile} }\n`)

  test('sends the file and the terminals files beside it, wherever it is called from', async () => {
    write('shops.csv', '\ufeffterminalId\nT-1\n')
    const file = yaml('./shops.csv')
    const { stdout, seen } = await against(counts, ['apply', file])
    assert.equal(stdout, `${listed}2 created, 1 updated, 3 unchanged\n`)
    assert.equal(seen[0]?.path, '/admin/directory?dryRun=false')
    assert.deepEqual(JSON.parse(seen[0]?.body.toString() ?? ''), {
      directory: readFileSync(file, 'utf8'),
      files: { './shops.csv': 'terminalId\nT-1\n' },
    })
  })

  test('--dry-run says that nothing was changed', async () => {
    const { stdout, seen } = await against(counts, ['apply', yaml('shops.csv'), '--dry-run'])
    assert.match(stdout, /^2 created, 1 updated, 3 unchanged\. .*nothing was changed/m)
    assert.ok(stdout.startsWith(listed))
    assert.equal(seen[0]?.path, '/admin/directory?dryRun=true')
  })

  test('--json prints the answer as it is; a long list says that it is cut', async () => {
    const answer = { json: { ...counts.json, truncated: true } }
    assert.deepEqual(JSON.parse((await against(answer, ['apply', yaml('shops.csv'), '--json'])).stdout), answer.json)
    const { stdout } = await against(answer, ['apply', yaml('shops.csv')])
    assert.match(stdout, /^Only the first changes are listed\.$/m)
  })

  test('a terminals file that is not there is left to the platform, which names its line', async () => {
    const { seen } = await against(counts, ['apply', yaml('missing.csv')])
    assert.deepEqual(JSON.parse(seen[0]?.body.toString() ?? '').files, {})
  })

  test('files that can’t be read as text exit with 1 before anything is sent', async () => {
    const foreign = write('foreign.yaml', Buffer.from('banks: []\n# caf\u00e9\n', 'latin1'))
    write('foreign.csv', Buffer.from('terminalId\nT-1\nT-\u00e9\n', 'latin1'))
    const cases: [path: string, message: RegExp][] = [
      [join(folder, 'nowhere.yaml'), /nowhere\.yaml can’t be read: there is no such file/],
      [folder, /can’t be read: it is a folder/],
      [foreign, /foreign\.yaml must be UTF-8 text; line 2 is not/],
      [yaml('foreign.csv'), /foreign\.csv must be UTF-8 text; line 3 is not/],
    ]
    for (const [path, message] of cases) {
      const result = await against(counts, ['apply', path])
      failed(result, 1, message)
      assert.equal(result.seen.length, 0)
    }
  })
})

describe('profiles import', () => {
  const ndjson = (...values: object[]) => values.map(value => `${JSON.stringify(value)}\n`).join('')
  const result = { imported: 1, duplicates: 0, rejected: 2 }
  const reject = (lineNumber: number, column: string, reason: string) => ({ reject: { lineNumber, column, reason } })
  const parts = () => readdirSync(folder).filter(name => name.endsWith('.part'))

  test('sends the file as it is', async () => {
    const bytes = Buffer.from('\ufefficcid,msisdn,pin1,activationCode\r\n\u00ff"', 'latin1')
    const file = write('odd.csv', bytes)
    const args = ['profiles', 'import', file, '--operator', 'kyivstar', '--tariff', 'eu 10&gb']
    const { code, stdout, seen } = await against({ text: ndjson({ result: { ...result, rejected: 0 } }) }, args)
    assert.deepEqual([code, stdout], [0, '1 imported, 0 duplicates, 0 rejected\n'])
    assert.equal(seen[0]?.path, '/admin/profiles?operator=kyivstar&tariff=eu+10%26gb&skipInvalid=false')
    assert.equal(seen[0]?.headers['content-type'], 'text/csv')
    assert.ok(seen[0]?.body.equals(bytes))
  })

  test('writes each rejected line whole, with its number and reason, for its owner alone', async () => {
    const long = `${'9'.repeat(300_000)},\u00e9`
    const lines = ['\ufefficcid,msisdn,pin1,activationCode', 'good', long, 'with "quotes,', 'good', 'last,1']
    const file = write('mixed.csv', Buffer.from(lines.join('\r\n')))
    const rejects = write('mixed-rejects.csv', 'of an earlier import\n')
    const text = ndjson(
      reject(3, 'line', 'must be at most 4096 bytes'),
      reject(4, 'line', 'must be "quoted"'),
      reject(6, 'line', 'must have four columns, as the header has'),
      { result },
    )
    const args = [
      'profiles',
      'import',
      file,
      '--operator',
      'k',
      '--tariff',
      't',
      '--skip-invalid',
      '--rejects',
      rejects,
    ]
    const { code, stdout, seen } = await against({ text }, [...args, '--json'])
    assert.deepEqual([code, JSON.parse(stdout)], [0, result])
    assert.match(seen[0]?.path ?? '', /skipInvalid=true$/)
    assert.deepEqual(readFileSync(rejects, 'utf8').split('\n'), [
      'iccid,msisdn,pin1,activationCode,line,reason',
      `${long},3,line must be at most 4096 bytes`,
      'with "quotes,,4,"line must be ""quoted"""',
      'last,1,6,"line must have four columns, as the header has"',
      '',
    ])
    assert.equal(statSync(rejects).mode & 0o777, 0o600)
    assert.deepEqual(parts(), [])
  })

  test('without rejected lines the file of rejects has only its header', async () => {
    const rejects = join(folder, 'none.csv')
    await against({ text: ndjson({ result }) }, [...importing, '--skip-invalid', '--rejects', rejects])
    assert.equal(readFileSync(rejects, 'utf8'), 'iccid,msisdn,pin1,activationCode,line,reason\n')
  })

  test('a refused import leaves the rejects of an earlier one, and nothing else', async () => {
    const rejects = write('kept.csv', 'of an earlier import\n')
    const refusal = { status: 400, json: { statusCode: 400, message: ['line 1 must be the header'], error: '' } }
    const refused = await against(refusal, [...importing, '--skip-invalid', '--rejects', rejects])
    failed(refused, 1, /^Nothing was imported from .*stock\.csv: line 1 must be the header\n$/)
    assert.equal(readFileSync(rejects, 'utf8'), 'of an earlier import\n')
    assert.deepEqual(parts(), [])
  })

  test('an import that is stopped half-way leaves no secrets behind', async () => {
    const rejects = join(folder, 'stopped.csv')
    let stop = () => {}
    const platform = await startRawPlatform(() => {
      assert.equal(parts().length, 1)
      stop()
    })
    const { code } = await perkline([...importing, '--skip-invalid', '--rejects', rejects], {
      env: { PERKLINE_URL: platform.url },
      onStart(child) {
        stop = () => child.kill('SIGINT')
      },
    })
    await platform.close()
    assert.deepEqual([code, parts(), existsSync(rejects)], [null, [], false])
  })

  test('a place that can’t be written to shows before anything is imported', async () => {
    const answer = { text: ndjson({ result }) }
    const args = [...importing, '--skip-invalid', '--rejects', join(folder, 'no-folder', 'r.csv')]
    const refused = await against(answer, args)
    failed(refused, 1, /r\.csv can’t be written: there is no such file or folder/)
    assert.equal(refused.seen.length, 0)
  })

  test('a file that is not there exits with 1', async () => {
    const args = ['profiles', 'import', join(folder, 'nowhere.csv'), '--operator', 'k', '--tariff', 't']
    failed(await perkline(args), 1, /nowhere\.csv can’t be read: there is no such file/)
  })

  test('a refusal ends the upload at once, though the platform reads no more of it', async () => {
    const file = write('large.csv', Buffer.alloc(64 * 1024 * 1024, 'x'))
    const platform = await startRawPlatform((_, response) => {
      response.writeHead(401, { 'content-type': 'application/json' })
      response.end('{"statusCode":401,"message":"no","error":"Unauthorized"}')
    })
    const args = ['profiles', 'import', file, '--operator', 'k', '--tariff', 't']
    failed(await perkline(args, { env: { PERKLINE_URL: platform.url } }), 1, /OPERATOR_KEY is wrong/)
    await platform.close()
  })

  test('half a million rejects fit into 24 MB', async () => {
    const count = 500_000
    const file = write('many.csv', `head\n${'bad\n'.repeat(count)}`)
    const rejects = join(folder, 'many-rejects.csv')
    function* answer() {
      for (let first = 2; first < count + 2; first += 1000)
        yield ndjson(...Array.from({ length: 1000 }, (_, index) => reject(first + index, 'iccid', 'must be digits')))
      yield ndjson({ result })
    }
    const platform = await startScriptedPlatform(() => ({ text: answer() }))
    const args = [
      'profiles',
      'import',
      file,
      '--operator',
      'k',
      '--tariff',
      't',
      '--skip-invalid',
      '--rejects',
      rejects,
    ]
    const env = { PERKLINE_URL: platform.url, NODE_OPTIONS: '--max-old-space-size=24' }
    const { code, stderr } = await perkline(args, { env })
    await platform.close()
    assert.deepEqual([code, stderr], [0, ''])
    const written = readFileSync(rejects, 'utf8')
    assert.equal(written.match(/^bad,\d+,iccid must be digits$/gm)?.length, count)
    assert.ok(written.endsWith(`bad,${count + 1},iccid must be digits\n`))
  })
})
