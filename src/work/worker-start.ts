/** Where each thread of `piecesOfThread` begins. */
import { setPriority } from 'node:os'
import { workerData } from 'node:worker_threads'

// Requests go first. Linux takes 0 for the calling thread; elsewhere it would be the whole process.
if (process.platform === 'linux') setPriority(0, 19)
await import(workerData.file)
