/** The number of rows on a table's page. A person chooses it, and this browser stores the choice for all tables. */
import { useSyncExternalStore } from 'react'

export const pageSizes = [10, 20, 50, 100] as const
export type PageSize = (typeof pageSizes)[number]

const key = 'perkline.page-size'
const listeners = new Set<() => void>()

export const keptPageSize = (): PageSize => pageSizes.find(size => size === Number(localStorage.getItem(key))) ?? 20

/** @returns the chosen size, and a function that changes it */
export function usePageSize(): [PageSize, (size: PageSize) => void] {
  const size = useSyncExternalStore(listen, keptPageSize)
  return [size, choose]
}

function choose(size: PageSize): void {
  localStorage.setItem(key, String(size))
  for (const listener of listeners) listener()
}

function listen(listener: () => void): () => void {
  listeners.add(listener)
  addEventListener('storage', listener)
  return () => {
    listeners.delete(listener)
    removeEventListener('storage', listener)
  }
}
