/**
 * Appends to AUDIT_ANCHOR_FILE, which may be on another machine that does not answer. A call on such a file would block a thread
 * of Node.js forever: logins, whose passwords are hashed in the same threads, would wait, and the program could not end. So a
 * separate process makes the call.
 */
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'

const answerWithinMs = 10_000

/** The running process. While it has not ended, no further process is started. */
let running: ChildProcess | null = null
let last: Promise<unknown> = Promise.resolve()

/**
 * Appends a text and flushes it to the disk. One call runs at a time.
 *
 * @param file an absolute path
 * @throws Error with the `code` of the system, or with ETIMEDOUT after 10 seconds
 */
export const appendToAnchorFile = (file: string, text: string): Promise<void> => inTurn('append', file, text)

/**
 * Checks whether the file, or the folder in which it would be made, can be written. Changes nothing.
 * @throws as `appendToAnchorFile`
 */
export const checkAnchorFile = (file: string): Promise<void> => inTurn('check', file, '')

type Task = 'append' | 'check'

function inTurn(task: Task, file: string, text: string): Promise<void> {
  // The time limit includes the wait for earlier calls. Otherwise, if one call hangs, the calls after it would wait for
  // minutes.
  const limit = AbortSignal.timeout(answerWithinMs)
  const done = last.then(() => runProcess([task, file], text, limit))
  last = done.catch(() => {})
  return done
}

async function runProcess(args: [Task, string], text: string, limit: AbortSignal): Promise<void> {
  if (limit.aborted || running !== null) throw noAnswer()
  const child = spawn(process.execPath, [fileURLToPath(new URL('./anchor-process.ts', import.meta.url)), ...args], {
    stdio: ['pipe', 'ignore', 'pipe'],
    cwd: '/',
    // Passes no environment variables: the process needs none, and ours contain secrets.
    env: {},
  })
  running = child
  const forget = () => {
    running = null
  }
  child.once('exit', forget).once('error', forget)
  let code = ''
  child.stderr.on('data', chunk => {
    code += chunk
  })
  // Ignore errors of this stream, because the process itself reports what went wrong.
  child.stdin.on('error', () => {})
  child.stdin.end(text)
  try {
    const [status] = await once(child, 'close', { signal: limit })
    if (status !== 0) throw failure(code || 'EIO', code || 'the process that writes it ended')
  } catch (error) {
    throw limit.aborted ? noAnswer() : error
  } finally {
    // Kill the process and release its streams, so that this program can end even if that process hangs.
    child.kill('SIGKILL')
    child.unref()
    child.stdin.destroy()
    child.stderr.destroy()
  }
}

const noAnswer = (): Error => failure('ETIMEDOUT', `no answer within ${answerWithinMs / 1000} seconds`)

const failure = (code: string, reason: string): Error =>
  Object.assign(new Error(`AUDIT_ANCHOR_FILE cannot be written (${reason})`), { code })
