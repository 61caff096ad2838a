/** The worker thread of `drawAct`. */
import { buffer } from 'node:stream/consumers'
import { workerData } from 'node:worker_threads'
import { giveResult } from '../../work/worker-thread.ts'
import { actPdf } from './pdf.ts'

giveResult(await buffer(actPdf(workerData.act, workerData.style)))
