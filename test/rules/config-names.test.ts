/** A start, the help and .env.example know the names of all settings. */
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import { readConfig, type Service } from '../../src/config.ts'
import { settingsAdvice, unknownSettings } from '../../src/settings/advice.ts'
import { settingsHelp } from '../../src/settings/help.ts'

test('names that are no settings but look like ours are told, with what may be meant', () => {
  const meant: [name: string, setting: string][] = [
    ['MASTERKEY', 'MASTER_KEY'],
    ['MASTER_KEYS', 'MASTER_KEY'],
    ['REDIS', 'REDIS_URL'],
    ['DATABASE_URI', 'DATABASE_URL'],
    ['PUBLIC_ULR', 'PUBLIC_URL'],
    ['PERKLINE_PORTT', ''],
    ['PERKLINE_PUBLIC_URL', 'PUBLIC_URL'],
    ['database_url', 'DATABASE_URL'],
    ['OPERATOR_KEYFILE', 'OPERATOR_KEY_FILE'],
  ]
  for (const [name, setting] of meant) {
    const [told = ''] = unknownSettings([name])
    assert.ok(told.startsWith(`${name} is not a setting`) && told.includes(setting && `did you mean ${setting}?`), told)
  }
  const others = [
    'PATH',
    'HOME',
    'HOSTNAME',
    'MAIL',
    'SHELL',
    'LANG',
    'TERM',
    'PWD',
    'USER',
    'LOGNAME',
    'EDITOR',
    'POST',
  ]
  const containers = ['REDIS_SERVICE_HOST', 'PERKLINE_SERVICE_HOST', 'PERKLINE_PORT', 'PERKLINE_PORT_8080_TCP']
  const npm = ['npm_command', 'npm_package_name', 'NODE_ENV', 'INIT_CWD', 'DISPLAY', 'SSH_AUTH_SOCK', 'XDG_DATA_DIRS']
  const own = [...settingsHelp.map(({ name }) => name), 'PERKLINE_URL']
  assert.deepEqual(unknownSettings([...others, ...containers, ...npm, ...own]), [])
})

const kept = { KEEP_REPORT_LINES_DAYS: '365', KEEP_SEGMENTS_DAYS: '365', KEEP_MSISDN_DAYS: '365' }

test('a live process that removes old data names what it keeps for ever', () => {
  const url = 'https://esim.example'
  const set = { PUBLIC_URL: url, ADMIN_URL: url, ...kept }
  const advice = (env: Record<string, string>, running: Service[] | null = null, mode: 'live' | 'sandbox' = 'live') =>
    settingsAdvice({ mode, host: '127.0.0.1', publicUrl: url, staffUrl: url, admin: {} }, env, running)
  assert.deepEqual(advice(set), [])
  const one = ['KEEP_SEGMENTS_DAYS is not set: what it is about is kept for ever']
  for (const running of [null, ['worker'] as Service[]])
    assert.deepEqual(advice({ ...set, KEEP_SEGMENTS_DAYS: ' ' }, running), one)
  const { PUBLIC_URL, ADMIN_URL } = set
  const all = [
    'KEEP_REPORT_LINES_DAYS, KEEP_SEGMENTS_DAYS, KEEP_MSISDN_DAYS are not set: what they are about is kept for ever',
  ]
  assert.deepEqual(advice({ PUBLIC_URL, ADMIN_URL }), all)
  assert.deepEqual(advice({ PUBLIC_URL, ADMIN_URL }, ['esim']), [])
  assert.ok(!advice({}, null, 'sandbox').some(sentence => sentence.includes('KEEP_')))
})

test('without ADMIN_PORT, only a process that serves /admin warns of it, and one that makes links wants ADMIN_URL', () => {
  const advice = (running: Service[], env: Record<string, string> = {}) => {
    const url = 'https://esim.example'
    const config = { mode: 'live', host: '127.0.0.1', publicUrl: url, staffUrl: url, admin: null } as const
    return settingsAdvice(config, { PUBLIC_URL: url, ...kept, ...env }, running)
  }
  const [worker = '', ...more] = advice(['worker'])
  assert.match(worker, /^ADMIN_URL is not set: .*another process has ADMIN_PORT.*https:\/\/esim\.example/)
  assert.deepEqual(more, [])
  assert.deepEqual(advice(['worker'], { ADMIN_URL: 'https://staff.example' }), [])
  assert.deepEqual(advice(['esim', 'auth']), [])
  const [port = '', address = ''] = advice(['portal', 'admin'])
  assert.match(port, /^ADMIN_PORT is not set: \/admin can be reached/)
  assert.equal(address, worker)
})

test('a sandbox that others can reach warns that endpoints may be on its own machine', () => {
  const advice = (settings: { mode?: 'live'; host?: string; publicUrl?: string }) =>
    settingsAdvice(
      {
        mode: 'sandbox',
        host: '127.0.0.1',
        publicUrl: 'http://127.0.0.1:8080',
        staffUrl: 'http://127.0.0.1:8080',
        admin: {},
        ...settings,
      },
      { PUBLIC_URL: 'set', ADMIN_URL: 'set', ...kept },
    )
  const publicUrl = 'https://sandbox.example'
  for (const open of [{ host: '0.0.0.0' }, { host: '::' }, { publicUrl }, { host: '10.0.0.5', publicUrl }]) {
    const [told = '', ...more] = advice(open)
    assert.match(told, /webhooks.*127\.0\.0\.0\/8/)
    assert.deepEqual(more, [])
  }
  assert.deepEqual(advice({}), [])
  assert.deepEqual(advice({ host: '::1', publicUrl: 'http://localhost:8080' }), [])
  assert.deepEqual(advice({ mode: 'live', host: '0.0.0.0', publicUrl }), [])
})

test('the help names every setting that is read', () => {
  const asked = new Set<string>()
  const env = new Proxy({} as Record<string, string>, {
    get: (_, name) => {
      asked.add(String(name))
      return undefined
    },
  })
  readConfig(env)
  const helped = settingsHelp.map(({ name }) => name)
  assert.deepEqual(
    [...asked].filter(name => !helped.includes(name)),
    [],
  )
})

test('.env.example has every setting once, each commented out, and can be used as it stands', () => {
  const example = readFileSync(new URL('../../.env.example', import.meta.url), 'utf8')
  const names = [...example.matchAll(/^#([A-Z_]+)=/gm)].map(([, name]) => name)
  assert.deepEqual(names.sort(), settingsHelp.map(({ name }) => name).sort())
  assert.doesNotMatch(example, /^[^#\n]/m)
})
