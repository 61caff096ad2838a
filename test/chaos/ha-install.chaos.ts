/**
 * Sets up a cluster on three empty Debian machines with the commands of docs/high-availability.md, "Set up". Then it
 * kills the primary's machine and checks that another one takes over. The packages are installed beforehand, because
 * the machines' network has no way to the outside.
 */
import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import process from 'node:process'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { type Booted, bootDebian, runOn } from '../support/booted.ts'
import { makeDebian } from '../support/debian.ts'
import { requireProgram } from '../support/require-program.ts'

const files = fileURLToPath(new URL('../../deploy/postgres', import.meta.url))
const page = readFileSync(new URL('../../docs/high-availability.md', import.meta.url), 'utf8')
const [, section = ''] = /^## Set up\n([\s\S]*?)^## /m.exec(page) ?? []
const blocks = [...section.matchAll(/^```text\n([\s\S]*?)^```/gm)].map(([, lines = '']) => lines)
const packages = [...section.matchAll(/^apt-get install -y (.*)$/gm)].map(([, named]) => named).join(' ')
const names = ['one', 'two', 'three']
const bridge = `pkbr${process.pid}`.slice(0, 15)
const database = 'postgres://perkline:secret@127.0.0.1:5000/perkline'

/** The lines as one of the machines gets them: with its own name and address, and with passwords. */
function linesFor(machine: number, ...lines: string[]): string {
  return lines
    .join('')
    .replaceAll(/^apt-get .*\n/gm, '')
    .replace('NAME=one HOST=10.0.2.1', `NAME=${names[machine]} HOST=10.0.2.${machine + 1}`)
    .replaceAll('PASSWORD=…', 'PASSWORD=secret')
}

/** Repeats shell lines until they succeed, like a person who waits for their output. */
const until = (lines: string): string =>
  `for try in $(seq 60); do if (set -o pipefail; ${lines}); then break; fi; test $try -lt 60; sleep 2; done\n`

/** Installs Debian in a folder and copies it twice. @returns the three folders */
function furnish(folder: string): string[] {
  const [first = '', ...others] = names.map(name => join(folder, name))
  makeDebian(first, ['systemd-sysv', 'dbus', 'ca-certificates'])
  const install = `update-ca-certificates && apt-get update && DEBIAN_FRONTEND=noninteractive apt-get install -y ${packages} haproxy`
  execFileSync('chroot', [first, 'sh', '-c', install], { stdio: 'ignore' })
  mkdirSync(join(first, 'opt/perkline/deploy'), { recursive: true })
  cpSync(files, join(first, 'opt/perkline/deploy/postgres'), { recursive: true })
  for (const other of others) execFileSync('cp', ['-a', '--reflink=auto', first, other])
  return [first, ...others]
}

test('three empty Debians become a cluster that survives its primary, with the page alone', async t => {
  for (const program of ['mmdebstrap', 'unshare', 'nsenter', 'ip']) if (!requireProgram(t, program)) return
  if (process.getuid?.() !== 0) return t.skip('only root may enter another root')
  const [values = '', etcd = '', healthy = '', patroni = '', list = '', create = '', haproxy = ''] = blocks
  const folder = mkdtempSync('/var/tmp/perkline-ha-install-')
  const machines: Booted[] = []
  execFileSync('ip', ['link', 'add', bridge, 'type', 'bridge'])
  execFileSync('ip', ['link', 'set', bridge, 'up'])
  try {
    const roots = furnish(folder)
    const startedMs = performance.now()
    for (const [index, root] of roots.entries())
      machines.push(await bootDebian(root, { bridge, address: `10.0.2.${index + 1}/16` }))
    for (const [index, machine] of machines.entries()) await runOn(machine, linesFor(index, values, etcd))
    const three = until(`${healthy.trim()} 2>&1 | grep -c 'is healthy' | grep -x 3`)
    await runOn(machines[0] as Booted, three)
    for (const [index, machine] of machines.entries()) await runOn(machine, linesFor(index, values, patroni))
    const whole = until(
      `${list.trim()} > /root/list && grep Leader /root/list && grep 'Sync Standby' /root/list && grep Replica /root/list`,
    )
    const shown = await runOn(machines[0] as Booted, `${whole}cat /root/list\n`)
    const leader = names.indexOf(/^\| (\w+) .*Leader/m.exec(shown)?.[1] ?? '')
    const primary = machines[leader] as Booted
    const platform = machines[(leader + 1) % names.length] as Booted
    await runOn(primary, create.replace(/^(.*--pwprompt.*)$/m, "printf 'secret\\nsecret\\n' | setsid --wait $1"))
    await runOn(platform, `${haproxy}${until(`psql ${database} -c 'create table sales as select 1 as sale'`)}`)
    const killedMs = performance.now()
    await primary.kill()
    machines.splice(leader, 1)
    await runOn(platform, until(`psql ${database} -c 'insert into sales values (2)'`))
    const endedMs = performance.now()
    const sales = await runOn(
      platform,
      `psql ${database} -Atc 'select distinct sale from sales order by sale' | xargs\n`,
    )
    assert.match(sales, /^1 2$/m, 'the sale before the failure is kept')
    t.diagnostic(
      JSON.stringify({ clusterMs: Math.round(killedMs - startedMs), tookOverMs: Math.round(endedMs - killedMs) }),
    )
  } finally {
    for (const machine of machines) await machine.kill()
    execFileSync('ip', ['link', 'del', bridge])
    rmSync(folder, { recursive: true, force: true, maxRetries: 5 })
  }
})
