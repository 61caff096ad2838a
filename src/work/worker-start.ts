/** The entry file of each thread of `piecesOfThread`. */
import { setPriority } from 'node:os'
import { workerData } from 'node:worker_threads'

// Requests have priority over this thread. On Linux, 0 means the calling thread; elsewhere it would mean the whole process.
if (process.platform === 'linux') setPriority(0, 19)
await import(workerData.file)
