/** The entry file of each thread of `resultOfThread`. */
import { workerData } from 'node:worker_threads'
import { lowerPriority } from './low-priority.ts'

// Lower the priority of this thread, so that requests go first. On Linux, 0 means the calling thread. On other systems
// it would mean the whole process.
if (process.platform === 'linux') lowerPriority(0)
await import(workerData.file)
