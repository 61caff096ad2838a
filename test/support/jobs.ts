/**
 * Runs the processes of `npm test` and prints one report. It runs as many processes at a time as keep the machine busy.
 */
import { once } from 'node:events'
import { availableParallelism, cpus } from 'node:os'
import process from 'node:process'
import { PassThrough } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { type EventData, run } from 'node:test'
import { spec } from 'node:test/reporters'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import type { Durations, Job } from './schedule.ts'

const room = fileURLToPath(new URL('room.ts', import.meta.url))

const leastAtATime = Math.max(2, availableParallelism())
/** The maximum number of jobs at a time. It limits their memory and their database connections. */
const mostAtATime = 3 * leastAtATime
const sampleMs = 100
/**
 * Another job begins when the cores were idle for more than `share` of the time. The last `samples` measurements count.
 * Many test files mostly wait, so more jobs than cores can run.
 */
const idle = { share: 0.2, samples: 10 }

type Counts = Record<'tests' | 'suites' | 'passed' | 'failed' | 'cancelled' | 'skipped' | 'todo', number>
/** `failed`: the files that failed or ended too early. `notRun`: the files that did not begin, because the time was over. */
type JobResult = { failed: string[]; notRun: string[]; counts: Counts; took: Durations }

/**
 * @param endsAtMs the time (of `performance.now()`) from which no further job begins
 * @returns the files that failed, the files whose jobs did not begin, and how many seconds each of the other files took
 */
export async function runJobs(
  jobs: readonly Job[],
  cwd: string,
  endsAtMs = Number.POSITIVE_INFINITY,
): Promise<{ failed: string[]; notRun: string[]; took: Durations }> {
  const startedAtMs = performance.now()
  const report = new PassThrough({ objectMode: true })
  const printed = pipeline(report.compose(new spec()), process.stdout, { end: false })
  const done = await runAll(jobs, async job =>
    performance.now() < endsAtMs ? runJob(job, cwd, report) : { ...nothing(), notRun: job.files },
  )
  for (const message of totals(done, performance.now() - startedAtMs))
    report.write({ type: 'test:diagnostic', data: { nesting: 0, message } })
  report.end()
  await printed
  const notRun = done.flatMap(result => result.notRun)
  return {
    failed: done.flatMap(({ failed }) => failed),
    notRun,
    took: Object.assign({}, ...done.map(({ took }) => took)),
  }
}

async function runAll(jobs: readonly Job[], start: (job: Job) => Promise<JobResult>): Promise<JobResult[]> {
  const started: Promise<JobResult>[] = []
  let running = 0
  let seen = [coreTimes()]
  for (const job of jobs) {
    while (running >= leastAtATime && !(running < mostAtATime && areIdle(seen))) {
      await sleep(sampleMs)
      seen = [...seen, coreTimes()].slice(-idle.samples)
    }
    // The next job waits for new samples, so that they include the load of this one.
    seen = [coreTimes()]
    running++
    started.push(start(job).finally(() => running--))
  }
  return Promise.all(started)
}

function areIdle(seen: readonly CoreTimes[]): boolean {
  const [first, last] = [seen.at(0), seen.at(-1)]
  if (!first || !last || seen.length < idle.samples) return false
  return last.idle - first.idle > idle.share * (last.all - first.all)
}

type CoreTimes = { idle: number; all: number }

/** Milliseconds of all cores since the machine's start. */
function coreTimes(): CoreTimes {
  const times = cpus().map(core => core.times)
  return {
    idle: times.reduce((sum, each) => sum + each.idle, 0),
    all: times.flatMap(each => Object.values(each)).reduce((sum, each) => sum + each, 0),
  }
}

type Event = { type: string; data: { file?: string } }

/** Runs a job. Reports the events of a file when the file ends, so that events of several processes are not mixed. */
async function runJob(job: Job, cwd: string, report: PassThrough): Promise<JobResult> {
  const result = nothing()
  let isWhole = false
  let heard: Event[] = []
  const tell = () => {
    for (const event of heard) report.write(event)
    heard = []
  }
  const onEnd = ({ name, nesting, details }: EventData.TestPass | EventData.TestFail) => {
    if (nesting === 0) result.took[name] = Math.round(details.duration_ms / 100) / 10
  }
  const tests = run({ files: [room], argv: job.files, execArgv: job.execArgv, cwd, concurrency: 1 })
    .on('test:pass', onEnd)
    .on('test:fail', test => {
      onEnd(test)
      if (test.nesting === 0) result.failed.push(test.name)
    })
    .on('test:dequeue', ({ nesting }) => nesting === 0 && tell())
    .on('test:summary', ({ file, success, counts }) => {
      if (file !== undefined) return
      isWhole = success
      result.counts = { ...noCounts, ...counts }
    })
    // Passes on the events that belong to a file. Summaries and the totals of this job are left out.
    .on('data', (event: Event) => {
      if (event.data.file !== undefined && event.type !== 'test:summary') heard.push(event)
    })
  await once(tests, 'end')
  tell()
  // The process may have ended too early although no test has failed.
  const unheard = job.files.filter(file => result.took[file] === undefined)
  for (const file of unheard)
    report.write({ type: 'test:diagnostic', data: { nesting: 0, message: `NOT RUN: ${file}` } })
  result.failed.push(...unheard)
  // The failure may belong to no file, such as an error after the last test.
  if (!isWhole && result.failed.length === 0) result.failed.push(...job.files)
  return result
}

const nothing = (): JobResult => ({ failed: [], notRun: [], counts: noCounts, took: {} })

const noCounts: Counts = { tests: 0, suites: 0, passed: 0, failed: 0, cancelled: 0, skipped: 0, todo: 0 }

function totals(done: readonly JobResult[], ms: number): string[] {
  const names = Object.keys(noCounts) as (keyof Counts)[]
  return [
    ...names.map(name => `${name} ${done.reduce((sum, { counts }) => sum + (counts[name] ?? 0), 0)}`),
    `duration_ms ${Math.round(ms)}`,
  ]
}
