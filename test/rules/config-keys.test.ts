/** The keys of a platform in its data folder, and how a command finds them. */
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import process from 'node:process'
import { text } from 'node:stream/consumers'
import { test } from 'node:test'
import { readClientConfig } from '../../src/cli/command-settings.ts'
import { ConfigError, readConfig, withKeys } from '../../src/config.ts'
import { folder, masterKey, operatorKey, otherKey } from '../support/settings.ts'

/** The files of an embedded platform in its data folder. */
const keyFiles = ['keys/master.key', 'operator.key']

test('the embedded platform makes its keys once, for its owner alone, and keeps them', async t => {
  const dataDir = join(await folder(t), 'data')
  const first = withKeys(readConfig({ DATA_DIR: dataDir }))
  for (const file of keyFiles) assert.equal(statSync(join(dataDir, file)).mode & 0o777, 0o600)
  assert.equal(statSync(join(dataDir, 'keys')).mode & 0o777, 0o700)
  assert.equal(first.masterKeys[0]?.length, 32)
  assert.ok(first.operatorKey.length >= 32)
  assert.equal(readFileSync(join(dataDir, 'operator.key'), 'utf8').trim(), first.operatorKey)
  assert.deepEqual(withKeys(readConfig({ DATA_DIR: dataDir })), first)
  assert.notEqual(withKeys(readConfig({ DATA_DIR: await folder(t) })).operatorKey, first.operatorKey)
})

test('of several processes at their first start all have the same keys, and no draft of a key stays', async t => {
  const dataDir = join(await folder(t), 'data')
  const config = JSON.stringify(new URL('../../src/config.ts', import.meta.url).href)
  const script = `import { readConfig, withKeys } from ${config}
    await new Promise(resolve => setTimeout(resolve, ${Date.now() + 1_500} - Date.now()))
    const { operatorKey, masterKeys } = withKeys(readConfig(process.env))
    process.stdout.write(operatorKey + masterKeys[0].toString('hex'))`
  const keysOf = async () => {
    const child = spawn(process.execPath, ['--input-type=module', '-e', script], {
      env: { DATA_DIR: dataDir },
      stdio: ['ignore', 'pipe', 'inherit'],
    })
    return text(child.stdout)
  }
  const keys = await Promise.all(Array.from({ length: 4 }, keysOf))
  assert.equal(keys[0]?.length, 128)
  assert.equal(new Set(keys).size, 1)
  assert.deepEqual(readdirSync(dataDir, { recursive: true }).sort(), ['keys', ...keyFiles])
})

test('a master key that version 0.2 left beside the database is moved, also when an earlier move was cut off', async t => {
  for (const isCutOff of [false, true]) {
    const dataDir = await folder(t)
    writeFileSync(join(dataDir, 'master.key'), `${masterKey}\n`, { mode: 0o600 })
    if (isCutOff) {
      mkdirSync(join(dataDir, 'keys'))
      writeFileSync(join(dataDir, 'keys', 'master.key'), `${masterKey}\n`, { mode: 0o600 })
    }
    assert.deepEqual(withKeys(readConfig({ DATA_DIR: dataDir })).masterKeys, [Buffer.alloc(32, 7)])
    assert.deepEqual(readdirSync(dataDir, { recursive: true }).sort(), ['keys', ...keyFiles])
    assert.equal(statSync(join(dataDir, 'keys', 'master.key')).mode & 0o777, 0o600)
  }
})

test('two different master keys in one data folder: neither is thrown away', async t => {
  const dataDir = await folder(t)
  mkdirSync(join(dataDir, 'keys'))
  const [former, present] = [join(dataDir, 'master.key'), join(dataDir, 'keys', 'master.key')]
  writeFileSync(former, masterKey)
  writeFileSync(present, otherKey)
  assert.throws(
    () => withKeys(readConfig({ DATA_DIR: dataDir })),
    (error: unknown) =>
      error instanceof ConfigError && error.message.includes(`${former} and ${present} hold different`),
  )
  assert.deepEqual([readFileSync(former, 'utf8'), readFileSync(present, 'utf8')], [masterKey, otherKey])
})

test('keys that are given are used and not written down', async t => {
  const dataDir = await folder(t)
  const config = withKeys(readConfig({ DATA_DIR: dataDir, MASTER_KEY: masterKey, OPERATOR_KEY: operatorKey }))
  assert.deepEqual([config.operatorKey, config.masterKeys], [operatorKey, [Buffer.alloc(32, 7)]])
  assert.deepEqual(readdirSync(dataDir), [])
})

test('a key file that is empty or cut short is refused, naming the file', async t => {
  for (const file of keyFiles) {
    for (const content of ['', '\n', 'abc']) {
      const dataDir = await folder(t)
      mkdirSync(join(dataDir, 'keys'))
      writeFileSync(join(dataDir, file), content)
      assert.throws(
        () => withKeys(readConfig({ DATA_DIR: dataDir })),
        (error: Error) => error instanceof ConfigError && error.message.includes(join(dataDir, file)),
        `${file}: ${JSON.stringify(content)}`,
      )
    }
  }
})

test('a data folder that can’t be one is named with its setting', async t => {
  const file = join(await folder(t), 'file')
  writeFileSync(file, '')
  for (const dataDir of [file, join(file, 'below')])
    assert.throws(
      () => withKeys(readConfig({ DATA_DIR: dataDir })),
      (error: unknown) => error instanceof ConfigError && /DATA_DIR must be a folder.*file/.test(error.message),
    )
})

test('a command finds the platform and its key by the settings, or by the data folder', async t => {
  const dataDir = await folder(t)
  assert.throws(() => readClientConfig({ DATA_DIR: dataDir }), ConfigError)
  const { operatorKey: made } = withKeys(readConfig({ DATA_DIR: dataDir }))
  assert.deepEqual(readClientConfig({ DATA_DIR: dataDir }), { url: 'http://127.0.0.1:8080', operatorKey: made })
  assert.deepEqual(readClientConfig({ PERKLINE_URL: 'https://p.example/', OPERATOR_KEY: operatorKey }), {
    url: 'https://p.example',
    operatorKey,
  })
  assert.throws(() => readClientConfig({ PERKLINE_URL: 'p.example', OPERATOR_KEY: operatorKey }), /PERKLINE_URL/)
})

test('a command says where it looked for the operator’s key', async t => {
  const dataDir = await folder(t)
  assert.throws(
    () => readClientConfig({ DATA_DIR: dataDir }),
    (error: Error) =>
      ['OPERATOR_KEY', 'OPERATOR_KEY_FILE', join(dataDir, 'operator.key')].every(place =>
        error.message.includes(place),
      ),
  )
  const file = join(dataDir, 'key')
  writeFileSync(file, `${operatorKey}\n`)
  assert.equal(readClientConfig({ OPERATOR_KEY_FILE: file }).operatorKey, operatorKey)
})

test('a command sends its key over http to this machine only', () => {
  const client = (url: string, more = {}) => readClientConfig({ PERKLINE_URL: url, OPERATOR_KEY: operatorKey, ...more })
  for (const url of ['http://p.example', 'http://10.0.0.1:8080', 'http://[fd00::1]:8080', 'http://127.0.0.1.p.example'])
    assert.throws(() => client(url), /PERKLINE_URL must start with https:/, url)
  for (const url of ['http://localhost:8080', 'http://127.0.0.2', 'http://[::1]:8080', 'https://p.example'])
    assert.equal(client(url).url, url)
  assert.equal(client('http://p.example', { ALLOW_PLAINTEXT: '1' }).url, 'http://p.example')
})
