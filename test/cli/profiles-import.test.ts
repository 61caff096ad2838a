/** `perkline profiles import` (contract/operations.md, "The command line"). */
import assert from 'node:assert/strict'
import { existsSync, mkdirSync, readdirSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import {
  against,
  assertFailed,
  filesOfTests,
  perkline,
  startRawPlatform,
  startScriptedPlatform,
} from '../support/command.ts'
import { openSmallDisk } from '../support/small-disk.ts'

const { folder, write } = filesOfTests()
const stockFile = write('stock.csv', 'iccid,msisdn,pin1,activationCode\nfirst\n')
const importing = ['profiles', 'import', stockFile, '--operator', 'kyivstar', '--tariff', 'eu-10gb']

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
    assertFailed(refused, 1, /^Nothing was imported from .*stock\.csv: line 1 must be the header\n$/)
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

  const again = 'start the import again with another file for --rejects'
  const imported = new RegExp(
    `: the disk is full\\. The good lines are imported\\. To get .*, ${again}; .* duplicate\\.$`,
    'm',
  )

  test('a disk that is full half-way: the import goes on, and the command says what was imported', async t => {
    const disk = openSmallDisk(t, 1)
    if (!disk) return
    await disk.fill()
    const file = write('large-lines.csv', `iccid,msisdn,pin1,activationCode\n${`${'9'.repeat(60_000)}\n`.repeat(40)}`)
    const answers = Array.from({ length: 40 }, (_, index) => reject(index + 2, 'line', 'must have four columns'))
    const rejects = join(disk.folder, 'rejects.csv')
    const args = importing.with(2, file)
    const answer = { text: ndjson(...answers, { result }) }
    const { code, stdout, stderr } = await against(answer, [...args, '--skip-invalid', '--rejects', rejects])
    await disk.close()
    assert.deepEqual([code, stdout.slice(0, 36)], [1, '1 imported, 0 duplicates, 2 rejected'])
    assert.doesNotMatch(stdout, /reasons are in|--rejects/)
    assert.match(stderr, imported)
  })

  test('a file of rejects that can’t take its place after the import: the command says what was imported', async () => {
    const rejects = join(folder, 'taken.csv')
    const answer = () => {
      mkdirSync(rejects)
      return { text: ndjson({ result }) }
    }
    const { code, stdout, stderr } = await against(answer, [
      ...importing,
      '--skip-invalid',
      '--rejects',
      rejects,
      '--json',
    ])
    assert.deepEqual([code, JSON.parse(stdout), parts()], [1, result, []])
    assert.match(stderr, /taken\.csv can’t be written: .* The good lines are imported/)
  })

  test('a file of rejects that fails although no line was good: nobody is told of good lines', async () => {
    const rejects = join(folder, 'taken-too.csv')
    const answer = () => {
      mkdirSync(rejects)
      return { text: ndjson({ result: { imported: 0, duplicates: 0, rejected: 2 } }) }
    }
    const { code, stdout, stderr } = await against(answer, [...importing, '--skip-invalid', '--rejects', rejects])
    assert.deepEqual([code, stdout], [1, '0 imported, 0 duplicates, 2 rejected\n'])
    assert.match(stderr, /taken-too\.csv can’t be written: /)
    assert.ok(stderr.includes(again), stderr)
    assert.doesNotMatch(stderr, /good lines/)
  })

  test('a place that can’t be written to shows before anything is imported', async () => {
    const answer = { text: ndjson({ result }) }
    const args = [...importing, '--skip-invalid', '--rejects', join(folder, 'no-folder', 'r.csv')]
    const refused = await against(answer, args)
    assertFailed(refused, 1, /r\.csv can’t be written: there is no such file or folder/)
    assert.equal(refused.seen.length, 0)
  })

  test('a file that is not there exits with 1', async () => {
    const args = ['profiles', 'import', join(folder, 'nowhere.csv'), '--operator', 'k', '--tariff', 't']
    assertFailed(await perkline(args), 1, /nowhere\.csv can’t be read: there is no such file/)
  })

  test('a refusal ends the upload at once, though the platform reads no more of it', async () => {
    const file = write('large.csv', Buffer.alloc(64 * 1024 * 1024, 'x'))
    const platform = await startRawPlatform((_, response) => {
      response.writeHead(401, { 'content-type': 'application/json' })
      response.end('{"statusCode":401,"message":"no","error":"Unauthorized"}')
    })
    const args = ['profiles', 'import', file, '--operator', 'k', '--tariff', 't']
    assertFailed(await perkline(args, { env: { PERKLINE_URL: platform.url } }), 1, /OPERATOR_KEY is wrong/)
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
