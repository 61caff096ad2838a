/**
 * A newcomer's walk: the lines of docs/install.md, and nothing else, in an empty Debian 12 (made by mmdebstrap, entered by chroot). It
 * ends with a platform behind TLS that sells, is watched and backed up. NO SYSTEMD RUNS HERE: `stand-in-systemctl.ts` starts what the units
 * say, without their sandbox. After the packages are there, the walk has a network of its own, so nothing else on the machine is in its way.
 */
import assert from 'node:assert/strict'
import { execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { chmodSync, copyFileSync, cpSync, existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { homedir } from 'node:os'
import { join } from 'node:path'
import process from 'node:process'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { requireProgram } from '../support/require-program.ts'

const checkout = fileURLToPath(new URL('../..', import.meta.url))
const domain = 'api.perkline.example'
const withinMs = 3_600_000
/** Authorities that this machine trusts beside Debian's: those of a proxy on the way to the registry. */
const authorities = '/usr/local/share/ca-certificates'

const page = readFileSync(new URL('../../docs/install.md', import.meta.url), 'utf8')
const sections = page.split(/^## /m).slice(1)
const linesOf = (section: string): string =>
  [...section.matchAll(/^```sh\n([\s\S]*?)^```/gm)].map(([, lines]) => lines).join('')

/** What a walk finds beside Debian: this repository, and the way to the packages' registry. */
function furnish(root: string): void {
  execFileSync('mmdebstrap', ['--variant=minbase', 'bookworm', root], { stdio: 'ignore' })
  copyFileSync('/etc/resolv.conf', join(root, 'etc/resolv.conf'))
  if (existsSync(authorities)) cpSync(authorities, join(root, authorities), { recursive: true })
  if (existsSync('/etc/npmrc')) copyFileSync('/etc/npmrc', join(root, 'etc/npmrc'))
  if (existsSync(join(homedir(), '.npmrc'))) copyFileSync(join(homedir(), '.npmrc'), join(root, 'root/.npmrc'))
  execFileSync('git', ['clone', '-q', '--bare', checkout, join(root, 'root/perkline.git')])
  const systemctl = '#!/bin/sh\nexec /opt/perkline/bin/node /root/stand-in-systemctl.ts "$@"\n'
  writeFileSync(join(root, 'usr/local/bin/systemctl'), systemctl)
  chmodSync(join(root, 'usr/local/bin/systemctl'), 0o755)
  copyFileSync(join(checkout, 'test/support/stand-in-systemctl.ts'), join(root, 'root/stand-in-systemctl.ts'))
}

/** Runs lines in a shell that ends with the first that fails. Processes that they leave behind end with it where it is alone. */
async function walk(root: string, lines: string, alone: boolean): Promise<{ code: number | null; output: string }> {
  writeFileSync(
    join(root, 'root/walk.sh'),
    `set -ex\nexport HOME=/root NODE_EXTRA_CA_CERTS=/etc/ssl/certs/ca-certificates.crt DOMAIN=${domain}\ncd /root\n${lines}`,
  )
  const enter = [
    ...['mount -t proc proc "$1/proc"', 'mount --rbind /dev "$1/dev"', ...(alone ? ['ip link set lo up'] : [])],
    'exec chroot "$1" /bin/bash /root/walk.sh 2>&1',
  ]
  const spaces = ['--mount', '--pid', '--fork', '--kill-child', ...(alone ? ['--net'] : [])]
  const child = spawn('unshare', [...spaces, 'sh', '-c', enter.join(' && '), 'sh', root], {
    env: { PATH: '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin', LANG: 'C.UTF-8' },
  })
  let output = ''
  child.stdout.on('data', chunk => {
    output += chunk
    process.stdout.write(chunk)
  })
  const [code] = await once(child, 'close')
  return { code, output }
}

test('an empty Debian becomes a platform behind TLS that sells, is watched and backed up, with the page alone', async t => {
  for (const program of ['mmdebstrap', 'unshare', 'chroot', 'ip']) if (!requireProgram(t, program)) return
  if (process.getuid?.() !== 0) return t.skip('only root may enter another root')
  const root = mkdtempSync('/var/tmp/perkline-install-')
  try {
    furnish(root)
    const startedMs = performance.now()
    const [first = '', ...others] = sections.map(linesOf)
    const fetched = await walk(root, first.replace(/REPOSITORY=\S+/, 'REPOSITORY=/root/perkline.git'), false)
    assert.equal(fetched.code, 0, fetched.output.slice(-2_000))
    const packagesMs = performance.now() - startedMs
    // The packages met a database server of this machine, and made way.
    execFileSync('sed', ['-i', 's/^port = .*/port = 5432/', join(root, 'etc/postgresql/15/main/postgresql.conf')])
    const { code, output } = await walk(root, [...others, proof].join(''), true)
    assert.equal(code, 0, output.slice(-2_000))
    const tookMs = performance.now() - startedMs
    t.diagnostic(JSON.stringify({ packagesMs: Math.round(packagesMs), tookMs: Math.round(tookMs) }))
    assert.match(output, /"status":"confirmed"/)
    assert.match(output, /perkline_backup_verified_timestamp_seconds \d{10}/)
    assert.deepEqual(output.match(/^FAIL .*?:/gm), ['FAIL mail:'], 'there is no mail server')
    const told: { labels: Record<string, string> }[] = JSON.parse(readFileSync(join(root, 'root/told.json'), 'utf8'))
    const pages = told.filter(({ labels }) => labels.severity === 'page').map(({ labels }) => labels.alertname)
    assert.deepEqual([...new Set(pages)], ['PerklineStockOut'])
    assert.ok(tookMs < withinMs)
  } finally {
    rmSync(root, { recursive: true, force: true, maxRetries: 5 })
  }
})

/** What a newcomer would look at: Prometheus reaches everything, and its alerts reach who sends them on. */
const proof = `
for try in $(seq 60); do
  UP=$(curl -fsS 'http://127.0.0.1:9090/api/v1/query?query=count(up==1)')
  case "$UP" in *'"5"]'*) break ;; esac
  sleep 2
done
case "$UP" in *'"5"]'*) ;; *) echo "$UP"; exit 1 ;; esac
sleep 90
curl -fsS http://127.0.0.1:9093/api/v2/alerts > /root/told.json
`
