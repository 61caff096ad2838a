/** The worker thread of `readDirectoryAside`. */
import { workerData } from 'node:worker_threads'
import { givePieces } from '../../work/worker-pieces.ts'
import { readDirectory } from './directory-file.ts'

await givePieces([readDirectory(workerData.yamlText, workerData.files)])
