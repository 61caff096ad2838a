/** The machine on which the figures were taken, without anything that identifies it. */
import { cpus, totalmem } from 'node:os'
import process from 'node:process'
import { setTimeout as sleep } from 'node:timers/promises'

export type Machine = {
  takenOn: string
  cpu: string
  cores: number
  memoryGib: number
  node: string
  postgres: string
}

/** @param tools versions of the programs that were started for the run */
export function describeMachine(tools: { postgres: string }): Machine {
  return {
    takenOn: new Date().toISOString().slice(0, 10),
    cpu: cpus()[0]?.model.trim() ?? 'unknown processor',
    cores: cpus().length,
    memoryGib: Math.round(totalmem() / 2 ** 30),
    node: process.versions.node,
    ...tools,
  }
}

/**
 * How much processor time other programs use, in percent. It is measured for a second in which the benchmark does
 * nothing.
 */
export async function busyPercent(): Promise<number> {
  const read = () => {
    const times = cpus().map(cpu => cpu.times)
    const idle = times.reduce((sum, time) => sum + time.idle, 0)
    return { idle, all: times.reduce((sum, { user, nice, sys, irq }) => sum + user + nice + sys + irq, idle) }
  }
  const before = read()
  await sleep(1_000)
  const after = read()
  return Math.round(100 * (1 - (after.idle - before.idle) / (after.all - before.all)))
}
