/** Which test files run in which process, and in which order. */

/** Seconds that each file took when they were last recorded (`npm test -- --record`). */
export type Durations = Record<string, number>
/** Files that share a process. */
export type Job = { files: string[]; seconds: number }

/** Of a file without a record, which may be a long one. */
const unknownSeconds = 30

/** Files of one of these rooms may share a process: they leave nothing behind in it, and none looks at the process itself. */
const sharedRooms = /^test\/(rules|portal|api\/[\w-]+)\//

/** A shared process takes no more files after this time, so that no core waits for the last one. */
const jobSeconds = 25

/** Longest first, because what waits does so beside the others then. */
export function makeJobs(files: readonly string[], durations: Durations): Job[] {
  const jobs: Job[] = []
  const last = new Map<string, Job>()
  for (const name of [...files].sort()) {
    const seconds = durations[name] ?? unknownSeconds
    const [room = name] = sharedRooms.exec(name) ?? []
    const found = last.get(room)
    const job = found && found.seconds + seconds <= jobSeconds ? found : { files: [], seconds: 0 }
    if (job !== found) jobs.push(job)
    job.files.push(name)
    job.seconds += seconds
    last.set(room, job)
  }
  return jobs.sort((a, b) => b.seconds - a.seconds)
}
