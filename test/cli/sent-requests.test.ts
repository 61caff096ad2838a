/**
 * The requests that commands send, and what `perkline apply` shows of the answer (contract/operations.md, "The command line").
 */
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import {
  against,
  assertFailed,
  filesOfTests,
  operatorKey,
  perkline,
  type SeenRequest,
  startScriptedPlatform,
} from '../support/command.ts'

const { folder, write } = filesOfTests()

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
      assertFailed(result, 1, message)
      assert.equal(result.seen.length, 0)
    }
  })
})
