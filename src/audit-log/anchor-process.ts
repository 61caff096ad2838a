/** The process of `appendToAnchorFile`: appends its input to the file that its argument names. */
import { appendFile } from 'node:fs/promises'
import { text } from 'node:stream/consumers'

/** Ends this process even if the process that started it was killed. */
const endWithinMs = 20_000

setTimeout(() => process.kill(process.pid, 'SIGKILL'), endWithinMs).unref()
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => {})
const [, , file = ''] = process.argv
try {
  await appendFile(file, await text(process.stdin), { flush: true })
} catch (error) {
  const { code, message } = error as NodeJS.ErrnoException
  process.stderr.write(code ?? message)
  process.exitCode = 1
}
