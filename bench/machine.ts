/** What the figures were taken on: enough to judge them, nothing that names the machine. */
import { cpus, totalmem } from 'node:os'
import process from 'node:process'

export type Machine = {
  takenOn: string
  cpu: string
  cores: number
  memoryGib: number
  node: string
  postgres: string
}

/** @param tools versions of what was started for the run */
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
