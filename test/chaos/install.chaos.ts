/**
 * Runs the commands of docs/install.md, and nothing else, in an empty Debian 12 (made by mmdebstrap), as a new operator
 * would. The result is a platform behind TLS that sells, is monitored and backed up. systemd runs the units as on a
 * real machine. The packages are installed first; after that the Debian has a network of its own, so that no other
 * program of this machine disturbs it. At the end the Debian is restarted, and the first step of an upgrade is taken.
 */
import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import process from 'node:process'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { bootDebian, type Ran, runOn, runShell } from '../support/booted.ts'
import { makeDebian } from '../support/debian.ts'
import { requireProgram } from '../support/require-program.ts'

const checkout = fileURLToPath(new URL('../..', import.meta.url))
const domain = 'api.perkline.example'
const withinMs = 3_600_000
const page = readFileSync(new URL('../../docs/install.md', import.meta.url), 'utf8')
const sections = page.split(/^## /m).slice(1)
const linesOf = (section: string): string =>
  [...section.matchAll(/^```sh\n([\s\S]*?)^```/gm)].map(([, lines]) => lines).join('')

/** Makes the empty Debian, with a copy of this repository. */
function furnish(root: string): void {
  makeDebian(root, ['systemd-sysv', 'dbus'])
  execFileSync('git', ['clone', '-q', '--bare', checkout, join(root, 'root/perkline.git')])
}

const settings = `export NODE_EXTRA_CA_CERTS=/etc/ssl/certs/ca-certificates.crt DOMAIN=${domain}\n`

/** Runs lines before the Debian is booted. They use this machine's network, because they download packages. */
function walkBefore(root: string, lines: string): Promise<Ran> {
  writeFileSync(join(root, 'root/walk.sh'), `set -ex\nexport HOME=/root\n${settings}cd /root\n${lines}`)
  const enter =
    'mount -t proc proc "$1/proc" && mount --rbind /dev "$1/dev" && exec chroot "$1" /bin/bash /root/walk.sh 2>&1'
  return runShell('unshare', ['--mount', '--pid', '--fork', '--kill-child', 'sh', '-c', enter, 'sh', root])
}

/**
 * Boots the Debian, runs lines on it and powers it off.
 * @returns the output of the lines
 */
async function walkOn(root: string, lines: string): Promise<string> {
  const machine = await bootDebian(root)
  try {
    return await runOn(machine, settings + lines)
  } finally {
    await machine.powerOff()
  }
}

test('an empty Debian becomes a platform behind TLS that sells, is watched and backed up, with the page alone', async t => {
  for (const program of ['mmdebstrap', 'unshare', 'nsenter', 'chroot']) if (!requireProgram(t, program)) return
  if (process.getuid?.() !== 0) return t.skip('only root may enter another root')
  const root = mkdtempSync('/var/tmp/perkline-install-')
  try {
    furnish(root)
    const startedMs = performance.now()
    const [first = '', ...others] = sections.map(linesOf)
    const fetched = await walkBefore(root, first.replace(/REPOSITORY=\S+/, 'REPOSITORY=/root/perkline.git'))
    assert.equal(fetched.code, 0, fetched.output.slice(-2_000))
    const packagesMs = performance.now() - startedMs
    // The installer found port 5432 taken by a database server of this machine and chose another port; here it is set
    // back.
    execFileSync('sed', ['-i', 's/^port = .*/port = 5432/', join(root, 'etc/postgresql/15/main/postgresql.conf')])
    const output = await walkOn(root, [...others, proof].join(''))
    const tookMs = performance.now() - startedMs
    t.diagnostic(JSON.stringify({ packagesMs: Math.round(packagesMs), tookMs: Math.round(tookMs) }))
    assert.match(output, /"status":"confirmed"/)
    assert.match(output, /perkline_backup_verified_timestamp_seconds \d{10}/)
    assert.deepEqual(output.match(/^FAIL .*?:/gm), ['FAIL mail:'], 'there is no mail server')
    const told: { labels: Record<string, string> }[] = JSON.parse(readFileSync(join(root, 'root/told.json'), 'utf8'))
    const pages = told.filter(({ labels }) => labels.severity === 'page').map(({ labels }) => labels.alertname)
    assert.deepEqual([...new Set(pages)], ['PerklineStockOut'])
    assert.ok(tookMs < withinMs)
    await walkOn(root, afterAnotherStart)
  } finally {
    rmSync(root, { recursive: true, force: true, maxRetries: 5 })
  }
})

/**
 * Checks what a new operator would check: Prometheus reaches all targets, and its alerts reach Alertmanager. Targets
 * with the name `localhost` do not count, because they are from Debian's own settings, with which Prometheus ran
 * before.
 */
const proof = `
for try in $(seq 60); do
  UP=$(curl -fsS --get http://127.0.0.1:9090/api/v1/query --data-urlencode 'query=count(up{instance=~"127.*|https.*"}==1)')
  case "$UP" in *'"5"]'*) break ;; esac
  sleep 2
done
case "$UP" in *'"5"]'*) ;; *) echo "$UP"; exit 1 ;; esac
sleep 90
curl -fsS http://127.0.0.1:9093/api/v2/alerts > /root/told.json
`

/**
 * Checks after a restart that all units run again, and that the first step of an upgrade (docs/upgrade.md) restarts no
 * process that serves.
 */
const afterAnotherStart = `
curl -fsS --retry 60 --retry-delay 2 --retry-all-errors "https://$DOMAIN/health/ready"
systemctl is-active perkline@8081 perkline@8082 perkline@worker haproxy postgresql prometheus
BEFORE=$(systemctl show --property=MainPID --value perkline@8081 perkline@8082 perkline@worker)
systemctl restart perkline-migrate
sleep 10
test "$BEFORE" = "$(systemctl show --property=MainPID --value perkline@8081 perkline@8082 perkline@worker)"
systemctl start perkline-audit.service
systemctl show --property=Result perkline-audit.service | grep -x Result=success
test -z "$(systemctl list-units --failed --plain --no-legend 'perkline*')"
`
