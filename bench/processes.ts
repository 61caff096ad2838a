/** Starts the processes of a run, measures their memory, and ends them with the run. */
import { type ChildProcess, type SpawnOptions, spawn } from 'node:child_process'
import { readdirSync, readFileSync } from 'node:fs'
import process from 'node:process'
import { setTimeout as sleep } from 'node:timers/promises'

/** Ends a program cleanly; resolves when it has ended. */
export async function stopProcess(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return
  const gone = new Promise(resolve => child.once('exit', resolve))
  child.kill('SIGTERM')
  await gone
}

/**
 * Runs a program to its end and returns its output.
 * @throws Error with the end of its error output when it fails
 */
export async function runProgram(command: string, args: string[], options: SpawnOptions = {}): Promise<string> {
  const child = spawn(command, args, { ...options, stdio: ['ignore', 'pipe', 'pipe'] })
  let printed = ''
  let complaints = ''
  child.stdout?.on('data', chunk => {
    printed += chunk
  })
  child.stderr?.on('data', chunk => {
    complaints += chunk
  })
  const code = await new Promise((resolve, reject) => {
    child.once('error', reject)
    child.once('close', resolve)
  })
  if (code !== 0) throw new Error(`${command} failed (${code}): ${complaints.trim().slice(-2_000)}`)
  return printed
}

/**
 * Waits until the address answers with one of the codes.
 * @throws Error when the process ends first, or after two minutes
 */
export async function untilAnswered(child: ChildProcess, url: string, codes: number[], pollMs = 20): Promise<void> {
  for (const giveUpAt = performance.now() + 120_000; performance.now() < giveUpAt; ) {
    if (child.exitCode !== null) throw new Error(`A server ended at its start (exit code ${child.exitCode})`)
    const status = await fetch(url).then(
      answer => answer.status,
      () => 0,
    )
    if (codes.includes(status)) return
    await sleep(pollMs)
  }
  throw new Error('A server did not come up')
}

/** Megabytes of memory of a process, now and at its peak (Linux; NaN elsewhere). */
export function memoryOf(pid: number | undefined): { nowMb: number; peakMb: number } {
  if (process.platform !== 'linux') return { nowMb: Number.NaN, peakMb: Number.NaN }
  const status = readFileSync(`/proc/${pid}/status`, 'utf8')
  const megabytes = (name: string) => Number(new RegExp(`^${name}:\\s*(\\d+) kB`, 'm').exec(status)?.[1]) / 1024
  return { nowMb: megabytes('VmRSS'), peakMb: megabytes('VmHWM') }
}

/** Milliseconds of processor time of a process so far (Linux; NaN elsewhere). */
export const cpuMsOf = (pid: number | undefined): number =>
  process.platform === 'linux' ? (statOf(pid)?.ownMs ?? Number.NaN) : Number.NaN

/** Like `cpuMsOf`, for a process and all children that it has or had. */
export function familyCpuMs(pid: number): number {
  for (;;) {
    const parent = process.platform === 'linux' ? statOf(pid) : null
    if (!parent) return Number.NaN
    const children = readdirSync('/proc')
      .filter(name => /^\d+$/.test(name))
      .flatMap(name => statOf(Number(name)) ?? [])
      .filter(({ parentPid }) => parentPid === pid)
    // If a child ended during these reads, its time may be missing from both the children's and the parent's times.
    // Then everything is read again.
    if (statOf(pid)?.endedChildrenMs === parent.endedChildrenMs)
      return children.reduce((sum, { ownMs }) => sum + ownMs, parent.ownMs + parent.endedChildrenMs)
  }
}

/** The length of a tick in milliseconds. Linux counts the processor time of a process in ticks. */
const msOfTick = 10

/** The times of a process from Linux; null when the process has ended. */
function statOf(pid: number | undefined) {
  try {
    const text = readFileSync(`/proc/${pid}/stat`, 'utf8')
    const fields = text
      .slice(text.lastIndexOf(')') + 2)
      .split(' ')
      .map(Number)
    const at = (index: number) => fields[index] ?? 0
    return {
      parentPid: at(1),
      ownMs: (at(11) + at(12)) * msOfTick,
      endedChildrenMs: (at(13) + at(14)) * msOfTick,
    }
  } catch {
    return null
  }
}
