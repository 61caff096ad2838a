/** Whether the platform can be reached, judged by the portal's own calls and by the browser. */
import type { QueryClient } from '@tanstack/react-query'
import { useSyncExternalStore } from 'react'
import { isApiError, noAnswer } from '../api/errors.ts'

/** The time (ms) at which the connection was lost; null while it works. */
let lostSince: number | null = null
let timer: ReturnType<typeof setTimeout> | undefined
let whenBack: () => void = () => {}
const listeners = new Set<() => void>()
const everyMs = 5_000
/**
 * Increases when a check starts and when the server answers. If it has increased during a failed check, there is a newer
 * result, so the failure is ignored.
 */
let learnt = 0

export const isLost = (): boolean => lostSince !== null

/** @returns the time (ms) at which the connection was lost; null while it works */
export function useLostSince(): number | null {
  return useSyncExternalStore(
    listener => {
      listeners.add(listener)
      return () => listeners.delete(listener)
    },
    () => lostSince,
  )
}

/**
 * Reports the result of a call. A call without an answer may have failed for other reasons, so the connection is then
 * checked.
 * @param error the error of a failed call; undefined if the call succeeded
 */
export function learnFrom(error?: unknown): void {
  if (isApiError(error, noAnswer)) void checkConnection()
  else if (error === undefined || isApiError(error)) find()
}

/** Listens to the browser's events. When the connection is back, all data of the page is read again. */
export function watchConnection(queryClient: QueryClient): void {
  whenBack = () => void queryClient.invalidateQueries()
  addEventListener('offline', lose)
  addEventListener('online', () => void checkConnection())
}

function lose(): void {
  clearTimeout(timer)
  timer = setTimeout(checkConnection, everyMs)
  if (lostSince === null) set(Date.now())
}

function find(): void {
  learnt++
  if (lostSince === null) return
  clearTimeout(timer)
  set(null)
  whenBack()
}

/**
 * Requests a small file that needs no session. Without an answer, the connection counts as lost, and the request is repeated
 * later until there is an answer.
 * @returns whether this request was answered
 */
export async function checkConnection(): Promise<boolean> {
  clearTimeout(timer)
  const before = ++learnt
  const answer = await fetch(`${import.meta.env.BASE_URL}icon.svg`, {
    cache: 'no-store',
    signal: AbortSignal.timeout(2 * everyMs),
  }).catch(() => null)
  if (answer) find()
  else if (before === learnt) lose()
  return answer !== null
}

function set(since: number | null): void {
  lostSince = since
  for (const listener of listeners) listener()
}
