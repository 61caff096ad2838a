/** The thread of `readDirectoryAside`. */
import { parentPort, workerData } from 'node:worker_threads'
import { readDirectory } from './directory-file.ts'

parentPort?.postMessage(readDirectory(workerData.yamlText, workerData.files))
