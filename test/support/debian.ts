/** An empty Debian 12 in a folder, made by mmdebstrap, and the way from there to the packages that this machine reaches. */
import { execFileSync } from 'node:child_process'
import { copyFileSync, cpSync, existsSync } from 'node:fs'
import { homedir } from 'node:os'
import { join } from 'node:path'

/** Authorities that this machine trusts beside Debian's: those of a proxy on the way to the registry. */
const authorities = '/usr/local/share/ca-certificates'

/** @param packages further packages, beside those that Debian cannot do without */
export function makeDebian(root: string, packages: readonly string[]): void {
  execFileSync('mmdebstrap', ['--variant=minbase', `--include=${packages.join()}`, 'bookworm', root], {
    stdio: 'ignore',
  })
  copyFileSync('/etc/resolv.conf', join(root, 'etc/resolv.conf'))
  if (existsSync(authorities)) cpSync(authorities, join(root, authorities), { recursive: true })
  if (existsSync('/etc/npmrc')) copyFileSync('/etc/npmrc', join(root, 'etc/npmrc'))
  if (existsSync(join(homedir(), '.npmrc'))) copyFileSync(join(homedir(), '.npmrc'), join(root, 'root/.npmrc'))
}
