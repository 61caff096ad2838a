/** The lines of docs/backup.md that find the access which comes back with a restore. */
import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { promisify } from 'node:util'
import { requireProgram } from '../support/require-program.ts'

const run = promisify(execFile)
const page = await readFile(new URL('../../docs/backup.md', import.meta.url), 'utf8')

test('what was changed from the very second of the restore on is listed, and nothing from before', async t => {
  if (!requireProgram(t, 'jq')) return
  const part = page.split('### Access that comes back\n')[1] ?? ''
  const lines = [...part.matchAll(/^```sh\n([\s\S]*?)^```/gm)].map(([, text = '']) => text)
  assert.equal(lines.length, 2)
  const second = /^SINCE=(\S{19})/.exec(lines[0] ?? '')?.[1] ?? assert.fail('no time of the restore')
  const before = new Date(Date.parse(`${second}Z`) - 1).toISOString()
  const after = ['000', '001', '500', '999'].map(ms => `${second}.${ms}Z`)
  const folder = await mkdtemp(join(tmpdir(), 'perkline-guide-'))
  try {
    const account = { type: 'bank', id: 'a' }
    const change = {
      action: 'credential.revoked',
      outcome: 'done',
      account,
      object: { type: 'credential', id: 'c' },
      change: {},
    }
    const entries = [before, ...after].map(at => JSON.stringify({ entry: JSON.stringify({ at, ...change }) }))
    await writeFile(join(folder, 'before.jsonl'), `${entries.join('\n')}\n`)
    const request = {
      method: 'POST',
      route: '/admin/credentials/:clientId/revoke',
      statusCode: 204,
      subject: 'operator',
    }
    const logged = [before, ...after].map(time => JSON.stringify({ time, ...request }))
    await writeFile(join(folder, 'perkline.log'), `${logged.join('\n')}\n`)
    const { stdout } = await run('sh', ['-ec', lines.join('\n')], { cwd: folder })
    const found = stdout.trim().split('\n')
    assert.deepEqual(
      found.map(line => line.split('\t', 1)[0]),
      [...after, ...after],
    )
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
})
