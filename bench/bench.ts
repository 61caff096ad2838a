/** What each benchmark case receives, and how it starts a platform on a copy of the test data. */
import type { DatabaseServer } from './database.ts'
import { type PlatformProcess, startPlatform } from './platform.ts'
import type { Figure } from './report.ts'
import type { Sizes } from './scale/sizes.ts'
import type { World } from './world.ts'

export type Bench = {
  server: DatabaseServer
  /** The folder of this run. Other users can enter it, because the database server may run as another user. */
  folder: string
  quick: boolean
  /** How often a comparison is repeated, and how long each side is measured. */
  rounds: number
  seconds: number
  /** Created when the first case needs it. */
  world(): Promise<World>
  /** For `scale`: the sizes of the large database, and how many times more orders it has than the small one. */
  sizes: Sizes
  times: number
  /** The chosen parts of a case that has parts. An empty list chooses all parts. */
  parts: readonly string[]
  /** Reports the progress of a long case. */
  tell(line: string): void
}

/** A benchmark case: it measures a group of figures with one setup. */
export type Case = { name: string; run(bench: Bench): Promise<Figure[]> }

export type Served = PlatformProcess & { token: string }

/** Starts a platform on this copy of the test data, and gets a token as a bank does. */
export async function serve(bench: Bench, database: string): Promise<Served> {
  const world = await bench.world()
  const platform = await startPlatform({
    DATABASE_URL: bench.server.url(database),
    DATA_DIR: bench.folder,
    MASTER_KEY: world.masterKey,
    OPERATOR_KEY: world.operatorKey,
  })
  const answer = await fetch(`${platform.url}/getToken/auth`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(world.credential),
  })
  const { access_token: token } = (await answer.json()) as { access_token: string }
  return { ...platform, token }
}

/** Starts something that can be stopped, passes it to `use`, and always stops it afterwards. */
export async function using<Resource extends { stop(): Promise<void> }, T>(
  start: Promise<Resource>,
  use: (resource: Resource) => Promise<T>,
): Promise<T> {
  const resource = await start
  try {
    return await use(resource)
  } finally {
    await resource.stop()
  }
}

/** Measures the parts of a case that were chosen. */
export async function runParts(
  bench: Bench,
  parts: Readonly<Record<string, (bench: Bench) => Promise<Figure[]>>>,
): Promise<Figure[]> {
  const figures: Figure[] = []
  for (const [name, measure] of Object.entries(parts))
    if (bench.parts.length === 0 || bench.parts.includes(name)) figures.push(...(await measure(bench)))
  return figures
}

/** How many decimals of a value are shown. */
const decimals = { s: 2, ms: 1, us: 1, MB: 0 }

/** Makes the figure of a value that must be at most `target`. */
export const atMost = (name: string, value: number, unit: keyof typeof decimals, target: number): Figure => ({
  name,
  ours: `${value.toFixed(decimals[unit])} ${unit}`,
  limit: '',
  ratio: null,
  target: `<= ${target} ${unit}`,
  pass: value <= target,
})

let loads = 0
/** Returns a prefix for externalIds that no other load of this run uses. */
export const freshPrefix = (): string => `bench-${process.pid}-${loads++}`
