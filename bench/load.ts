/** Puts load on a server, with the client in a process of its own. */
import process from 'node:process'
import { fileURLToPath } from 'node:url'
import type { Job, Result } from './client.ts'
import { runProgram } from './processes.ts'

const client = fileURLToPath(new URL('./client.ts', import.meta.url))

export async function runLoad(job: Job): Promise<Result> {
  return JSON.parse(await runProgram(process.execPath, [client, JSON.stringify(job)])) as Result
}

/** @throws Error with every answer that was not as expected */
export function requireExpected({ unexpected }: Result): void {
  const errors = Object.entries(unexpected).map(([what, count]) => `${count} x ${what}`)
  if (errors.length > 0) throw new Error(`unexpected answers: ${errors.join(', ')}`)
}

/**
 * Runs a load.
 * @returns the answers of one kind per second
 * @throws Error when any answer was unexpected
 */
export async function rateOf(job: Job, kind: string): Promise<number> {
  const result = await runLoad(job)
  requireExpected(result)
  return (result.answered[kind]?.count ?? 0) / result.seconds
}
