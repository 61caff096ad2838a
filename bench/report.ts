/** The results of a benchmark, shown on the terminal, as Markdown and as JSON. */
import { mkdirSync, writeFileSync } from 'node:fs'
import type { Machine } from './machine.ts'

export type Figure = {
  /** What was measured. */
  name: string
  /** The platform's figure, with its unit. */
  ours: string
  /** The figure with which the platform's figure is compared, with its unit; empty if there is none. */
  limit: string
  /** The platform's figure divided by the limit; null if there is no limit. */
  ratio: number | null
  target: string
  /** Whether the figure reaches its target. null: the figure is shown for information only. */
  pass: boolean | null
}

export type Outcome = {
  name: string
  figures: Figure[]
  seconds: number
  error: string | null
  /** How much processor time other programs used before the run, in percent. */
  busyPercent: number
}

/**
 * Figures are unreliable when other programs use more than this percentage of the processors. Then ratios are
 * unreliable, too, because a side with several processes gets more processor time than a side with one process.
 */
const tooBusyPercent = 15

const passed = ({ pass }: Figure): string => (pass === null ? '' : pass ? 'pass' : 'FAIL')
const columns = ['figure', 'ours', 'limit', 'ratio', 'target', '']
const cells = (figure: Figure): string[] => [
  figure.name,
  figure.ours,
  figure.limit,
  figure.ratio === null ? '' : figure.ratio.toFixed(2),
  figure.target,
  passed(figure),
]

/** The figures in aligned columns. */
export function figureTable(figures: Figure[]): string {
  const rows = [columns, ...figures.map(cells)]
  const widths = columns.map((_, index) => Math.max(...rows.map(row => row[index]?.length ?? 0)))
  return rows
    .map(row =>
      row
        .map((cell, index) => cell.padEnd(widths[index] ?? 0))
        .join('  ')
        .trimEnd(),
    )
    .join('\n')
}

/** Returns the figures of all cases, and a line for each case that failed or is unreliable. */
export function textTable(outcomes: Outcome[]): string {
  const errors = outcomes
    .filter(({ error }) => error !== null)
    .map(({ name, error }) => `${name}: NOT MEASURED, ${error}`)
  return [figureTable(outcomes.flatMap(({ figures }) => figures)), ...errors, ...doubts(outcomes)].join('\n')
}

const doubts = (outcomes: Outcome[]): string[] =>
  outcomes
    .filter(({ busyPercent }) => busyPercent >= tooBusyPercent)
    .map(({ name, busyPercent }) => `${name}: UNRELIABLE, others kept the machine ${busyPercent} % busy`)

/** Writes `latest.md` and `latest.json`. */
export function writeReport(folder: string, report: { machine: Machine; quick: boolean; outcomes: Outcome[] }): void {
  const { machine, quick, outcomes } = report
  const row = (values: string[]) => `| ${values.map(value => value.replaceAll('|', '\\|')).join(' | ')} |`
  const markdown = [
    '# Last results of `npm run bench`',
    '',
    `${quick ? 'A quick run (`--quick`): only roughly right. ' : ''}Measured on ${machine.takenOn}: ${machine.cpu}, ` +
      `${machine.cores} cores, ${machine.memoryGib} GiB; Node.js ${machine.node}, PostgreSQL ${machine.postgres}. ` +
      `The machine is shared: only ratios, taken in turns in one run, tell something.`,
    '',
    row(columns),
    row(columns.map(() => '---')),
    ...outcomes.flatMap(({ figures }) => figures.map(figure => row(cells(figure)))),
    ...doubts(outcomes).flatMap(doubt => ['', doubt]),
    ...outcomes.flatMap(({ name, error }) => (error === null ? [] : ['', `Not measured: ${name} (${error})`])),
    '',
  ]
  mkdirSync(folder, { recursive: true })
  writeFileSync(`${folder}/latest.md`, markdown.join('\n'))
  writeFileSync(`${folder}/latest.json`, `${JSON.stringify(report, null, 2)}\n`)
}
