/** The shells into which people paste commands. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { setTimeout as sleep } from 'node:timers/promises'

type Place = { cwd: string; env: Record<string, string | undefined> }
type Run = (lines: string, place: Place) => Promise<{ stdout: string; stderr: string }>
export type Shell = {
  name: string
  /** Programs that must be installed. */
  needs: string[]
  paste: Run
}

/** Pastes the text in one piece. The shell parses all of it before it runs any of it. */
const evaluated =
  (program: string): Run =>
  async (lines, { cwd, env }) => {
    const child = spawn(program, ['-c', 'eval "$1"', program, lines], { cwd, env, stdio: ['ignore', 'pipe', 'pipe'] })
    const [stdout, stderr] = await Promise.all([text(child.stdout), text(child.stderr)])
    return { stdout, stderr }
  }

const giveUpAfterMs = 300_000

/**
 * Pastes lines into a terminal as people do (bracketed paste). In a terminal, zsh behaves as it does for people: it
 * knows no comments, and expands `!` from its history. Output goes to files, because the terminal also shows the typed
 * text.
 */
const typed: Run = async (lines, { cwd, env }) => {
  const folder = await mkdtemp(join(tmpdir(), 'perkline-zsh-'))
  const [out, err] = [join(folder, 'out'), join(folder, 'err')]
  const child = spawn('script', ['-qec', 'zsh -f -i', '/dev/null'], {
    cwd,
    env: { ...env, TERM: 'xterm', LANG: 'C.UTF-8', SHELL: '/bin/sh' },
    stdio: ['pipe', 'ignore', 'ignore'],
    timeout: giveUpAfterMs,
    killSignal: 'SIGKILL',
  })
  const closed = once(child, 'close')
  try {
    child.stdin.write(`exec >${out} 2>${err}\r`)
    while (!existsSync(err) && child.exitCode === null) await sleep(20)
    child.stdin.write(`\x1b[200~${lines}\x1b[201~\rexit\r`)
    await closed
    return { stdout: await readFile(out, 'utf8'), stderr: await readFile(err, 'utf8') }
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}

export const shells: readonly Shell[] = [
  { name: 'bash', needs: ['bash'], paste: evaluated('bash') },
  { name: 'dash', needs: ['dash'], paste: evaluated('dash') },
  { name: 'zsh', needs: ['zsh', 'script'], paste: typed },
]
