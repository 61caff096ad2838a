/** A bank that sells at a steady pace without repeating requests, so that every failed request is noticed. */
import { randomInt } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { type Bank, type EsimAnswer, range } from './esim.ts'

export type SteadyLoad = AsyncDisposable & {
  /** The number of requests that got the expected answer. */
  answered(): number
  /** Stops. @returns figures; `faults` has the errors in plain words: an unexpected status, or no answer */
  end(): Promise<{ answered: number; faults: string[]; slowestMs: number }>
}

const sellers = 8
const pauseMs = 60

export function steadyLoad(bank: Bank): SteadyLoad {
  let going = true
  let answered = 0
  let slowestMs = 0
  const faults: string[] = []
  const ask = async (what: string, asked: () => Promise<EsimAnswer>, status: number): Promise<any> => {
    const startedMs = performance.now()
    try {
      const answer = await asked()
      if (answer.status === status) {
        answered++
        return answer.body
      }
      faults.push(`${what}: ${answer.status} ${answer.text}`)
    } catch (error) {
      const { message, cause } = error as Error
      faults.push(`${what}: ${message} ${cause instanceof Error ? cause.message : ''}`)
    } finally {
      slowestMs = Math.max(slowestMs, performance.now() - startedMs)
      await sleep(pauseMs)
    }
  }
  const sell = async () => {
    while (going) {
      const order = await ask('reserve', () => bank.reserve(`steady-${randomInt(2 ** 47)}`), 201)
      if (order === undefined) continue
      await ask('read', () => bank.read(order.orderId), 200)
      await ask('tariffs', () => bank.tariffs(), 200)
      if (randomInt(2) === 0) await ask('confirm', () => bank.confirm(order.orderId), 200)
      else await ask('cancel', () => bank.cancel(order.orderId), 200)
    }
  }
  const ended = Promise.all(range(sellers).map(sell))
  const end = async () => {
    going = false
    await ended
    return { answered, faults, slowestMs: Math.round(slowestMs) }
  }
  return { answered: () => answered, end, [Symbol.asyncDispose]: async () => void (await end()) }
}
