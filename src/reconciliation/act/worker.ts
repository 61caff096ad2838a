/** The worker thread of `drawAct`. */
import { buffer } from 'node:stream/consumers'
import { workerData } from 'node:worker_threads'
import { givePieces } from '../../work/worker-pieces.ts'
import { actPdf } from './pdf.ts'

await givePieces([await buffer(actPdf(workerData.act, workerData.style))])
