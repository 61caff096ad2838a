/** Whether the platform can be reached, as the portal's own calls and the browser tell it. */
import type { QueryClient } from '@tanstack/react-query'
import { useSyncExternalStore } from 'react'
import { isApiError, noAnswer } from '../api/errors.ts'

/** When the connection was lost, in ms; null: it is there. */
let lostSince: number | null = null
let timer: ReturnType<typeof setTimeout> | undefined
let whenBack: () => void = () => {}
const listeners = new Set<() => void>()
const everyMs = 5_000
/** Counts what was learnt, so that an older look says nothing any more. */
let learnt = 0

export const isLost = (): boolean => lostSince !== null

/** @returns when the connection was lost; null: it is there */
export function useLostSince(): number | null {
  return useSyncExternalStore(
    listener => {
      listeners.add(listener)
      return () => listeners.delete(listener)
    },
    () => lostSince,
  )
}

/** What a call has shown: one without an answer may have failed alone, so it is looked at. @param error undefined: it succeeded */
export function learnFrom(error?: unknown): void {
  if (isApiError(error, noAnswer)) void look()
  else if (error === undefined || isApiError(error)) find()
}

/** Listens to the browser. Once the connection is back, everything on the page is read again. */
export function watchConnection(queryClient: QueryClient): void {
  whenBack = () => void queryClient.invalidateQueries()
  addEventListener('offline', lose)
  addEventListener('online', () => void look())
}

function lose(): void {
  clearTimeout(timer)
  timer = setTimeout(look, everyMs)
  if (lostSince === null) set(Date.now())
}

function find(): void {
  learnt++
  if (lostSince === null) return
  clearTimeout(timer)
  set(null)
  whenBack()
}

/** Asks for a small file that needs no session. @returns whether it came; without an answer it is asked for again and again */
export async function look(): Promise<boolean> {
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
