/**
 * In a container the program is often the first process (PID 1). For it the system ignores signals that the program
 * does not handle. So this module handles them where nothing else does, such as during the start, and ends the
 * process as a shell would report it. Import it first.
 */
import { constants } from 'node:os'

if (process.pid === 1)
  for (const signal of ['SIGINT', 'SIGTERM'] as const)
    process.on(signal, () => {
      if (process.listenerCount(signal) === 1) process.exit(128 + constants.signals[signal])
    })
