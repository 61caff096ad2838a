/** Which test files run in which process, and in which order. */

/** Seconds that each file took when they were last recorded (`npm test -- --record`). */
export type Durations = Record<string, number>
/** Files that share a process, and the options that Node.js gets for it. */
export type Job = { files: string[]; seconds: number; execArgv: string[] }

/** The longest time that a file of `npm run test:quick` may have taken when the times were last recorded. */
const quickSeconds = 1.8

export const isQuick = (file: string, durations: Durations): boolean =>
  !isExperiment(file) && (durations[file] ?? unknownSeconds) <= quickSeconds

/** Experiments with kills, browsers, time limits, random walks and much data, which another test on the same two cores can disturb. */
const experimentRooms = /^test\/(?!rules\/|api\/)/

export const isExperiment = (file: string): boolean => experimentRooms.test(file)

/** The duration that is assumed for a file without a recorded one. It is long, so that such a file starts early. */
const unknownSeconds = 30

/**
 * Files of one of these folders may share a process: they leave nothing behind in it, and no test checks the process
 * itself.
 */
const sharedRooms = /^test\/(rules|long|portal|api\/[\w-]+)\//

/**
 * The files of a shared process may take this long together, by their recorded times, so that no core waits long for the
 * last process. A shorter time would cost more, because each new process loads and compiles the platform again.
 */
const jobSeconds = 150

/** A shared process makes and drops whole platforms. With Node's default it spends a sixth of its time on collecting their garbage. */
const sharedExecArgv = ['--max-semi-space-size=64']

/** Some tests in this folder check how logins queue, so they need passwords that are slow to hash. */
const passwordRoom = 'test/api/access/'
const quickHashes = ['--import', new URL('quick-hashes.ts', import.meta.url).href]

/** The longest jobs come first, so that they run beside the others and not alone at the end. */
export function makeJobs(files: readonly string[], durations: Durations): Job[] {
  const jobs: Job[] = []
  const last = new Map<string, Job>()
  for (const name of [...files].sort()) {
    const seconds = durations[name] ?? unknownSeconds
    const [room = name] = sharedRooms.exec(name) ?? []
    const found = last.get(room)
    const job =
      found && found.seconds + seconds <= jobSeconds ? found : { files: [], seconds: 0, execArgv: execArgvOf(room) }
    if (job !== found) jobs.push(job)
    job.files.push(name)
    job.seconds += seconds
    last.set(room, job)
  }
  return jobs.sort((a, b) => b.seconds - a.seconds)
}

function execArgvOf(room: string): string[] {
  if (!sharedRooms.test(room)) return []
  return room === passwordRoom ? sharedExecArgv : [...sharedExecArgv, ...quickHashes]
}
