/**
 * Stands in for systemctl where no systemd runs (a chroot): it starts what the unit files say, with their environment, credentials, users
 * and folders, but without their sandbox. `test/chaos/install.chaos.ts` uses it.
 */
import { execFileSync, spawn, spawnSync } from 'node:child_process'
import {
  chownSync,
  closeSync,
  copyFileSync,
  existsSync,
  mkdirSync,
  openSync,
  readFileSync,
  writeFileSync,
} from 'node:fs'
import { hostname } from 'node:os'
import process from 'node:process'
import { setTimeout as sleep } from 'node:timers/promises'

const state = '/run/stand-in'
const folders = ['/etc/systemd/system', '/lib/systemd/system']
const pidFile = (unit: string): string => `${state}/${unit}`

type Unit = { name: string; values(key: string): string[] }

function findFile(name: string): string {
  const template = name.replace(/@.*(?=\.)/, '@')
  for (const file of folders.flatMap(folder => [`${folder}/${name}`, `${folder}/${template}`]))
    if (existsSync(file)) return file
  throw new Error(`Unit ${name} not found.`)
}

const full = (name: string): string => (/\.(service|timer)$/.test(name) ? name : `${name}.service`)

function readUnit(name: string): Unit {
  const specifiers: Record<string, string> = {
    i: /@(.*)\./.exec(name)?.[1] ?? '',
    H: hostname(),
    d: `/run/credentials/${name}`,
  }
  const text = readFileSync(findFile(name), 'utf8').replaceAll(/\\\n\s*/g, ' ')
  const lines = text
    .split('\n')
    .map(line => line.replaceAll(/%([iHd])/g, (_, letter: string) => specifiers[letter] ?? ''))
  return {
    name,
    values: key => lines.filter(line => line.startsWith(`${key}=`)).map(line => line.slice(key.length + 1).trim()),
  }
}

const assignments = (text: string): [string, string][] =>
  [...text.matchAll(/^\s*"?([A-Za-z_]\w*)=(?:"(.*?)"|(.*?))"?\s*$/gm)].map(([, name = '', quoted, plain]) => [
    name,
    quoted ?? plain ?? '',
  ])

function environmentOf({ values }: Unit): Record<string, string> {
  const files = values('EnvironmentFile').flatMap(given => {
    const file = given.replace(/^-/, '')
    return given.startsWith('-') && !existsSync(file) ? [] : assignments(readFileSync(file, 'utf8'))
  })
  const own = values('Environment').flatMap(line =>
    (line.match(/"[^"]*"|\S+/g) ?? []).flatMap(word => assignments(word)),
  )
  return {
    PATH: '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin',
    ...Object.fromEntries([...own, ...files]),
  }
}

const idsOf = (user: string): [number, number] => [
  ...(['-u', '-g'].map(option => Number(execFileSync('id', [option, user], { encoding: 'utf8' }))) as [number, number]),
]

/** The user of a unit; a dynamic one is made. */
function userOf({ values }: Unit): string {
  const [user = values('DynamicUser')[0] === 'yes' ? 'perkline' : 'root'] = values('User')
  if (spawnSync('id', [user]).status !== 0) execFileSync('useradd', ['--system', '--no-create-home', user])
  return user
}

function makeFolders({ name, values }: Unit, user: string): void {
  const own = (path: string, mode = 0o700) => {
    mkdirSync(path, { recursive: true, mode })
    chownSync(path, ...idsOf(user))
  }
  for (const folder of values('StateDirectory')) own(`/var/lib/${folder}`)
  for (const folder of values('CacheDirectory')) own(`/var/cache/${folder}`)
  for (const folder of values('RuntimeDirectory')) own(`/run/${folder}`, 0o755)
  for (const [id = '', from = ''] of values('LoadCredential').map(line => line.split(':'))) {
    mkdirSync('/run/credentials', { recursive: true })
    own(`/run/credentials/${name}`)
    copyFileSync(from, `/run/credentials/${name}/${id}`)
    chownSync(`/run/credentials/${name}/${id}`, ...idsOf(user))
  }
}

/** The words of a command: `$NAME` becomes several, `${NAME}` stays one. */
function wordsOf(command: string, env: Record<string, string>): string[] {
  const words = command.replace(/^[-+!@:]+/, '').match(/"[^"]*"|'[^']*'|\S+/g) ?? []
  return words.flatMap(word => {
    const name = /^\$(\w+)$/.exec(word)?.[1]
    if (name !== undefined) return env[name]?.match(/\S+/g)?.map(each => each.replaceAll('"', '')) ?? []
    return [word.replaceAll(/^["']|["']$/g, '').replaceAll(/\$\{(\w+)\}/g, (_, each: string) => env[each] ?? '')]
  })
}

function isRunning(name: string): boolean {
  if (!existsSync(pidFile(name))) return false
  const pid = Number(readFileSync(pidFile(name), 'utf8'))
  try {
    return pid === 0 || process.kill(pid, 0)
  } catch {
    return false
  }
}

async function start(name: string): Promise<void> {
  if (name === 'postgresql.service') return void execFileSync('pg_ctlcluster', ['15', 'main', 'start'])
  const unit = readUnit(name)
  if (name.endsWith('.timer') || isRunning(name)) return
  for (const needed of unit.values('Requires').flatMap(line => line.split(' ')))
    if (needed.startsWith('perkline')) await start(needed)
  const env = environmentOf(unit)
  const user = userOf(unit)
  makeFolders(unit, user)
  const as = (command: string): string[] => ['-u', user, '--', ...wordsOf(command, env)]
  const isOnce = unit.values('Type')[0] === 'oneshot'
  const log = openSync(`/var/log/${name}.log`, 'a')
  const stdio: ['ignore', number, number] = ['ignore', log, log]
  for (const command of unit.values('ExecStart')) {
    if (isOnce) execFileSync('runuser', as(command), { env, stdio, cwd: '/' })
    const child = isOnce ? null : spawn('runuser', as(command), { env, stdio, cwd: '/', detached: true })
    child?.unref()
    if (child || unit.values('RemainAfterExit')[0] === 'yes') writeFileSync(pidFile(name), String(child?.pid ?? 0))
  }
  for (const command of unit.values('ExecStartPost')) execFileSync('runuser', as(command), { env, stdio, cwd: '/' })
  closeSync(log)
  if (isOnce) return
  await sleep(1_000)
  if (!isRunning(name)) throw new Error(`${name} ended: ${readFileSync(`/var/log/${name}.log`, 'utf8').slice(-2_000)}`)
}

async function stop(name: string): Promise<void> {
  if (name === 'postgresql.service') return void spawnSync('pg_ctlcluster', ['15', 'main', 'stop', '-m', 'fast'])
  if (!isRunning(name)) return
  const pid = Number(readFileSync(pidFile(name), 'utf8'))
  writeFileSync(pidFile(name), '')
  if (pid === 0) return
  process.kill(-pid, 'SIGTERM')
  for (let waited = 0; waited < 500 && existsSync(`/proc/${pid}`); waited++) await sleep(100)
}

const [command = '', ...rest] = process.argv.slice(2)
const names = rest.filter(word => !word.startsWith('-')).map(full)
mkdirSync(state, { recursive: true })
if (command === 'restart' || command === 'stop') for (const name of names) await stop(name)
if (command === 'restart' || command === 'start' || rest.includes('--now')) for (const name of names) await start(name)
if (command === 'enable') for (const name of names) findFile(name)
