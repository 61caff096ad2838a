/** Makes an empty Debian 12 in a folder with mmdebstrap. This Debian can download the same packages as this machine. */
import { execFileSync } from 'node:child_process'
import { copyFileSync, cpSync, existsSync } from 'node:fs'
import { homedir } from 'node:os'
import { join } from 'node:path'

/** Certificate authorities that this machine trusts in addition to Debian's, such as the one of a proxy before the registry. */
const authorities = '/usr/local/share/ca-certificates'

/** @param packages packages in addition to Debian's essential ones */
export function makeDebian(root: string, packages: readonly string[]): void {
  execFileSync('mmdebstrap', ['--variant=minbase', `--include=${packages.join()}`, 'bookworm', root], {
    stdio: 'ignore',
  })
  copyFileSync('/etc/resolv.conf', join(root, 'etc/resolv.conf'))
  if (existsSync(authorities)) cpSync(authorities, join(root, authorities), { recursive: true })
  if (existsSync('/etc/npmrc')) copyFileSync('/etc/npmrc', join(root, 'etc/npmrc'))
  if (existsSync(join(homedir(), '.npmrc'))) copyFileSync(join(homedir(), '.npmrc'), join(root, 'root/.npmrc'))
}
