/** `perkline serve` as a real process: its services, settings, output and migrations (contract/operations.md). */
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import process from 'node:process'
import { suite, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { createTestDatabase } from '../support/database.ts'
import { freePort } from '../support/free-port.ts'
import { live, processesOnServer, program, status } from '../support/served.ts'

const { failure, onServer, operatorKey, start } = processesOnServer()

suite('perkline', { concurrency: 3 }, () => {
  suite('migrations', () => {
    test('with MIGRATE_ON_START=0 an empty database is refused until `perkline migrate` has run', async t => {
      const empty = await createTestDatabase({ migrated: false })
      t.after(() => empty.close())
      const settings = { ...onServer(empty.url), MIGRATE_ON_START: '0' }
      assert.match(await failure(t, ['serve'], settings), /perkline migrate/)
      const migrating = await start(t, ['migrate'], settings)
      assert.equal(await migrating.ended, 0, migrating.stderr())
      assert.match(migrating.stdout(), /^Applied \d+ migrations: /)
      const again = await start(t, ['migrate'], settings)
      assert.equal(await again.ended, 0)
      assert.match(again.stdout(), /already at this version/)
      const run = await start(t, ['serve'], settings)
      await run.ready()
    })

    test('a schema of a newer version, and a database of others, are refused with a clear message', async t => {
      const [newer, foreign] = [await createTestDatabase(), await createTestDatabase({ migrated: false })]
      t.after(() => Promise.all([newer.close(), foreign.close()]))
      await newer.database.execute(
        `insert into schema_migrations (version, name, checksum) values (9999, 'later', 'x')`,
      )
      assert.match(await failure(t, ['serve'], onServer(newer.url)), /newer version of Perkline/)
      assert.match(await failure(t, ['migrate'], onServer(newer.url)), /newer version of Perkline/)
      await foreign.database.execute('create table invoices (id int)')
      assert.match(await failure(t, ['serve'], onServer(foreign.url)), /not Perkline/)
    })
  })

  suite('--only', { concurrency: 2 }, () => {
    const paths = { auth: '/auth/login', esim: '/esim/v1/operators', admin: '/admin/stock' }
    for (const [only, served] of Object.entries<string[]>({
      esim: ['esim'],
      'auth,admin': ['auth', 'admin'],
      worker: [],
    }))
      test(`--only ${only} serves that alone, and is ready`, async t => {
        const run = await start(t, ['serve', '--only', only], onServer())
        await run.ready()
        for (const [service, path] of Object.entries(paths)) {
          const expected = served.includes(service) ? (service === 'auth' ? 405 : 401) : 404
          assert.equal(await status(run.url + path), expected, path)
        }
        assert.equal(await status(`${run.url}/sandbox/clock`), 200)
      })

    test('a token of one service is good at another', async t => {
      const [auth, esim] = await Promise.all([
        start(t, ['serve', '--only', 'auth,admin'], onServer()),
        start(t, ['serve', '--only', 'esim'], onServer()),
      ])
      await Promise.all([auth.ready(), esim.ready()])
      const post = async (path: string, body: object) => {
        const headers = { authorization: `Bearer ${operatorKey}`, 'content-type': 'application/json' }
        const answer = await fetch(auth.url + path, { method: 'POST', headers, body: JSON.stringify(body) })
        assert.ok(answer.ok, await answer.clone().text())
        return (await answer.json()) as any
      }
      const directory = `banks:
  - { code: solo, name: Solo, logoUrl: https://s.example/l.svg, apiVersion: "1.0", esim: { deliveryMode: local, operators: all } }`
      await post('/admin/directory', { directory, files: {} })
      const credential = await post('/admin/credentials', { bank: 'solo', role: 'ADMIN' })
      const { access_token } = await post('/getToken/auth', credential)
      const headers = { authorization: `Bearer ${access_token}` }
      assert.equal(await status(`${esim.url}/esim/v1/operators`, { headers }), 200)
    })
  })

  suite('settings and output', { concurrency: 2 }, () => {
    test('.env in the working folder is read; the environment wins', async t => {
      const run = await start(t, ['serve'], {})
      run.signal('SIGKILL')
      await run.ended
      const port = await freePort()
      const lines = { ...onServer(), PORT: port, LOG_LEVEL: 'fatal' }
      const text = Object.entries(lines).map(([name, value]) => `${name}='${value}'\n`)
      // Some editors begin a file with a byte-order mark.
      writeFileSync(join(run.folder, '.env'), `\uFEFF${text.join('')}MASTERKEY=x\n`)
      const env = { PATH: process.env.PATH ?? '', LOG_LEVEL: 'info' }
      const child = spawn(program, ['serve'], { env, cwd: run.folder, stdio: ['ignore', 'pipe', 'inherit'] })
      t.after(() => child.kill('SIGKILL'))
      let stdout = ''
      child.stdout.on('data', chunk => {
        stdout += chunk
      })
      while (
        !(await fetch(`http://127.0.0.1:${port}/health/live`).then(
          ({ ok }) => ok,
          () => false,
        ))
      ) {
        assert.equal(child.exitCode, null, stdout)
        await sleep(20)
      }
      child.kill('SIGTERM')
      // Log lines may arrive after the answers; once the process has closed its output, all of them are here.
      assert.equal((await once(child, 'close'))[0], 0)
      assert.match(stdout, /"level":"info"/)
      assert.match(stdout, /"level":"warn".*MASTERKEY is not a setting: did you mean MASTER_KEY\?/)
    })

    test('what it writes is JSON lines, of the level that was asked for', async t => {
      const run = await start(t, ['serve'], onServer())
      await run.ready()
      run.signal('SIGTERM')
      assert.equal(await run.ended, 0)
      const messages = run
        .stdout()
        .trim()
        .split('\n')
        .map(line => JSON.parse(line).msg)
      for (const message of ['ready', 'request', 'stopping', 'stopped']) assert.ok(messages.includes(message), message)
      const quiet = await start(t, ['serve'], { ...onServer(), LOG_LEVEL: 'error' })
      await quiet.ready()
      quiet.signal('SIGTERM')
      assert.equal(await quiet.ended, 0)
      assert.equal(quiet.stdout(), '')
    })

    test('in live mode it warns of what is likely to be missing, and listens at ADMIN_PORT where that is set', async t => {
      const own = await createTestDatabase()
      t.after(() => own.close())
      const bare = await start(t, ['serve'], { ...onServer(own.url), ...live, HOST: '0.0.0.0' })
      await bare.ready()

      const [PUBLIC_URL, ADMIN_PORT] = ['https://perkline.example', await freePort()]
      const whole = await start(t, ['serve'], {
        ...onServer(own.url),
        ...live,
        PUBLIC_URL,
        ADMIN_PORT: String(ADMIN_PORT),
        ADMIN_URL: 'https://staff.perkline.example',
        ...{ KEEP_REPORT_LINES_DAYS: '365', KEEP_SEGMENTS_DAYS: '365', KEEP_MSISDN_DAYS: '365' },
      })
      await whole.ready()
      const headers = { authorization: `Bearer ${operatorKey}` }
      assert.equal(await status(`http://127.0.0.1:${ADMIN_PORT}/admin/stock`, { headers }), 200)
      assert.equal(await status(`${whole.url}/admin/stock`, { headers }), 404)
      const worker = await start(t, ['serve', '--only', 'worker'], { ...onServer(own.url), ...live, PUBLIC_URL })
      await worker.ready()
      for (const run of [bare, whole, worker]) run.signal('SIGTERM')
      assert.deepEqual(await Promise.all([bare.ended, whole.ended, worker.ended]), [0, 0, 0])
      const [first, second, third, fourth, fifth] = bare.stdout().match(/"level":"warn".*/g) ?? []
      assert.match(first ?? '', /PUBLIC_URL is not set/)
      assert.match(second ?? '', /ADMIN_PORT is not set/)
      assert.match(third ?? '', /ADMIN_URL is not set: if another process has ADMIN_PORT/)
      assert.match(fourth ?? '', /PUBLIC_URL is not https/)
      assert.match(fifth ?? '', /KEEP_REPORT_LINES_DAYS, KEEP_SEGMENTS_DAYS, KEEP_MSISDN_DAYS are not set/)
      const told = worker.stdout().match(/"level":"warn".*/g) ?? []
      assert.deepEqual([told.length, /ADMIN_URL is not set/.test(told[0] ?? '')], [2, true], told.join('\n'))
      assert.doesNotMatch(whole.stdout(), /"level":"warn"/)
    })

    test('metrics are served at METRICS_PORT', async t => {
      const port = await freePort()
      const run = await start(t, ['serve'], { ...onServer(), METRICS_PORT: String(port) })
      await run.ready()
      const answer = await fetch(`http://127.0.0.1:${port}/metrics`)
      assert.equal(answer.status, 200)
      assert.match(await answer.text(), /perkline_http_request_seconds/)
      run.signal('SIGTERM')
      assert.equal(await run.ended, 0)
    })
  })
})
