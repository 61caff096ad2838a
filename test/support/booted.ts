/**
 * Runs a Debian in a folder as a machine of its own: systemd is its first process, and it has its own network and
 * processes. Needs root, but no container engine.
 */
import assert from 'node:assert/strict'
import { execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import process from 'node:process'
import { setTimeout as sleep } from 'node:timers/promises'

export type Ran = { code: number | null; output: string }
export type Booted = {
  /** Runs lines in a shell that stops at the first line that fails. */
  run(lines: string): Promise<Ran>
  /** Stops all services and then the Debian itself, as `systemctl poweroff` does. */
  powerOff(): Promise<void>
  /** Ends everything at once, as when the power fails. */
  kill(): Promise<void>
}
/** A bridge of this machine, and the address that the Debian has there. */
export type Cable = { bridge: string; address: string }

const environment = { PATH: '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin', LANG: 'C.UTF-8' }
const startsWithinMs = 180_000
const tryAgainMs = 500
let booted = 0

/**
 * Enters a new control group, so that this Debian's systemd and the machine's own systemd never share one. `$1`: the
 * folder, `$2`: the group's name.
 */
const enterGroup = `
set -e
mount -t cgroup2 none "$1/mnt"
mkdir -p "$1/mnt/$2"
echo $$ > "$1/mnt/$2/cgroup.procs"
umount "$1/mnt"
exec unshare --cgroup --pid --fork --kill-child --uts --ipc --net sh -c "$3" sh "$1"`

/** systemd gives services their secrets through mounts, which all its namespaces must see. So mounts are shared. */
const boot = `
set -e
mount --bind "$1" "$1"
mount -t proc proc "$1/proc"
mount -t sysfs -o ro sysfs "$1/sys"
mount -t cgroup2 none "$1/sys/fs/cgroup"
mount -t tmpfs -o mode=755 none "$1/run"
mount --rbind /dev "$1/dev"
# This machine gets shared memory of its own, because systemd removes what the users of its services leave there.
mount -t tmpfs none "$1/dev/shm"
cd "$1"
mkdir -p before
pivot_root . before
umount -l /before
mount --make-rshared /
exec env -i container=other PATH="$PATH" /lib/systemd/systemd`

/**
 * @param root the Debian's folder, with the packages `systemd-sysv` and `dbus`
 * @param cable the bridge that connects the Debian to this machine and to others; default: none
 */
export async function bootDebian(root: string, cable?: Cable): Promise<Booted> {
  allowFewFiles(root)
  const group = `perkline-${process.pid}-${booted++}`
  const args = ['--mount', '--propagation', 'private', 'sh', '-c', enterGroup, 'sh', root, group, boot]
  const outer = spawn('unshare', args, { env: environment, stdio: ['ignore', 'inherit', 'inherit'] })
  const ended = once(outer, 'exit')
  const first = await until('it has a first process', () => firstProcess(outer.pid))
  if (cable) plugIn(first, cable)
  const enter = ['-t', String(first), '--mount', '--pid', '--uts', '--ipc', '--net', '--cgroup']
  const inside = (...command: string[]): string =>
    execFileSync('nsenter', [...enter, ...command], {
      env: environment,
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'ignore'],
    })
  await until('its services have started', () => {
    try {
      return (
        existsSync(`/proc/${first}`) &&
        inside('systemctl', 'show', '--property=SystemState').trim() !== 'SystemState=starting'
      )
    } catch {
      // systemd does not listen yet.
      return false
    }
  })
  return {
    async run(lines) {
      writeFileSync(join(root, 'root/walk.sh'), `set -ex\nexport HOME=/root\ncd /root\n${lines}`)
      return runShell('nsenter', [...enter, '/bin/bash', '/root/walk.sh'])
    },
    async powerOff() {
      try {
        inside('systemctl', 'poweroff')
      } catch {
        outer.kill('SIGKILL')
      }
      await ended
    },
    async kill() {
      outer.kill('SIGKILL')
      await ended
    },
  }
}

function plugIn(first: number, { bridge, address }: Cable): void {
  const ip = (...args: string[]) => void execFileSync('ip', args)
  const inside = (...args: string[]) => void execFileSync('nsenter', ['-t', String(first), '--net', 'ip', ...args])
  const end = `pk${first}`
  ip('link', 'add', end, 'type', 'veth', 'peer', 'name', 'eth0', 'netns', String(first))
  ip('link', 'set', end, 'master', bridge, 'up')
  inside('address', 'add', address, 'dev', 'eth0')
  inside('link', 'set', 'eth0', 'up')
}

/** Runs lines that must succeed. If they fail, it prints the end of the machine's log. @returns their output */
export async function runOn(machine: Booted, lines: string): Promise<string> {
  const { code, output } = await machine.run(lines)
  if (code !== 0) await machine.run('journalctl --boot --no-pager --lines 100')
  assert.equal(code, 0, output.slice(-2_000))
  return output
}

/** Runs a program and passes on what it writes. */
export async function runShell(program: string, args: readonly string[]): Promise<Ran> {
  const child = spawn(program, args, { env: environment, stdio: ['ignore', 'pipe', 'pipe'] })
  let output = ''
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding('utf8').on('data', (text: string) => {
      output += text
      process.stdout.write(text)
    })
  const [code] = await once(child, 'close')
  return { code, output }
}

async function until<T>(what: string, look: () => T | null | false): Promise<T> {
  const giveUpAtMs = performance.now() + startsWithinMs
  for (;;) {
    const found = look()
    if (found) return found
    if (performance.now() > giveUpAtMs) throw new Error(`Within ${startsWithinMs} ms it never came true: ${what}`)
    await sleep(tryAgainMs)
  }
}

/** Returns the process that has become systemd; null before that. */
function firstProcess(outer: number | undefined): number | null {
  const find = (pid: number): number | null => {
    if (namesSystemd(pid)) return pid
    for (const child of childrenOf(pid)) {
      const found = find(child)
      if (found !== null) return found
    }
    return null
  }
  return outer === undefined ? null : find(outer)
}

const read = (path: string): string => {
  try {
    return readFileSync(path, 'utf8')
  } catch {
    // The process has ended.
    return ''
  }
}
const namesSystemd = (pid: number): boolean => read(`/proc/${pid}/comm`).trim() === 'systemd'
const childrenOf = (pid: number): number[] =>
  read(`/proc/${pid}/task/${pid}/children`).trim().split(' ').filter(Boolean).map(Number)

const wantedFiles = 65_536

/** Lowers the unit's limit of open files to the machine's limit, if the machine's limit is lower. */
function allowFewFiles(root: string): void {
  const most = Number(/^Max open files\s+\d+\s+(\d+)/m.exec(readFileSync('/proc/self/limits', 'utf8'))?.[1])
  if (!(most < wantedFiles)) return
  const folder = join(root, 'etc/systemd/system/perkline@.service.d')
  mkdirSync(folder, { recursive: true })
  writeFileSync(join(folder, 'machine.conf'), `[Service]\nLimitNOFILE=${most}\n`)
}
