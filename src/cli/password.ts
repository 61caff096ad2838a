/** Reads a password for a command. */
import { createInterface } from 'node:readline'
import { type Readable, Writable } from 'node:stream'
import { CommandError, usageError } from './failure.ts'

const maxBytes = 4096
const attempts = 3

/**
 * Reads a password. On a terminal it asks twice and does not show the password. Otherwise it reads the first line of
 * standard input.
 *
 * @throws CommandError when there is none
 */
export async function readPassword(): Promise<string> {
  return process.stdin.isTTY ? askTwice() : firstLine(process.stdin)
}

async function firstLine(source: Readable): Promise<string> {
  let bytes = Buffer.alloc(0)
  for await (const chunk of source) {
    bytes = Buffer.concat([bytes, chunk])
    if (bytes.includes(10) || bytes.length > maxBytes) break
  }
  const end = bytes.indexOf(10)
  const line = end < 0 ? bytes : bytes.subarray(0, end)
  if (line.length > maxBytes) throw usageError(`The password on standard input has more than ${maxBytes} bytes.`)
  const password = decode(line).replace(/\r$/, '')
  if (password === '') throw usageError('Give the password as the first line of standard input; there is none.')
  return password
}

function decode(line: Buffer): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(line)
  } catch {
    throw usageError('The password on standard input must be UTF-8 text.')
  }
}

async function askTwice(): Promise<string> {
  for (let attempt = 0; attempt < attempts; attempt++) {
    const password = await ask('Password: ')
    if (password === '') process.stderr.write('A password can’t be empty.\n')
    else if ((await ask('Repeat the password: ')) === password) return password
    else process.stderr.write('The passwords differ.\n')
  }
  throw new CommandError('The passwords did not match, so no user was added.')
}

/** Asks on stderr, because stdout is for the command's result. The terminal does not show the typed text. */
function ask(question: string): Promise<string> {
  const nowhere = new Writable({ write: (_chunk, _encoding, done) => done() })
  const terminal = createInterface({ input: process.stdin, output: nowhere, terminal: true, historySize: 0 })
  process.stderr.write(question)
  return new Promise((resolve, reject) => {
    terminal.once('line', resolve)
    terminal.once('SIGINT', () => reject(new CommandError('Stopped: no user was added.')))
    terminal.once('close', () => reject(new CommandError('There was no password, so no user was added.')))
  }).finally(() => {
    terminal.close()
    process.stderr.write('\n')
  }) as Promise<string>
}
