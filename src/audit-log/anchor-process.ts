/**
 * The process that `anchor-file.ts` starts. Its arguments are the task (`append` or `check`) and the file. `append`
 * appends the standard input to the file.
 */
import { access, appendFile, constants, stat } from 'node:fs/promises'
import { dirname } from 'node:path'
import { text } from 'node:stream/consumers'

/** Ends this process even if the process that started it was killed. */
const endWithinMs = 20_000

setTimeout(() => process.kill(process.pid, 'SIGKILL'), endWithinMs).unref()
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => {})
const [, , task, file = ''] = process.argv
try {
  if (task === 'check') await check()
  else await appendFile(file, await text(process.stdin), { flush: true })
} catch (error) {
  const { code, message } = error as NodeJS.ErrnoException
  process.stderr.write(code ?? message)
  process.exitCode = 1
}

async function check(): Promise<void> {
  const found = await stat(file).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return null
    throw error
  })
  if (found?.isDirectory()) throw Object.assign(new Error('a folder'), { code: 'EISDIR' })
  await access(found === null ? dirname(file) : file, constants.W_OK)
}
