/** The worker thread of `readDirectoryAside`. */
import { workerData } from 'node:worker_threads'
import { giveResult } from '../../work/worker-thread.ts'
import { readDirectory } from './directory-file.ts'

giveResult(readDirectory(workerData.yamlText, workerData.files))
