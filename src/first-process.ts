/**
 * In a container the program is often the first process (PID 1). The system does not end this process at a signal that
 * the program does not handle. So this module handles SIGINT and SIGTERM while no other code does, for example during
 * the start. It ends the process with the exit code that a shell reports for the signal. Import this module first.
 */
import { constants } from 'node:os'

if (process.pid === 1)
  for (const signal of ['SIGINT', 'SIGTERM'] as const)
    process.on(signal, () => {
      if (process.listenerCount(signal) === 1) process.exit(128 + constants.signals[signal])
    })
