import { useNavigate } from '@tanstack/react-router'
import { useCallback } from 'react'

export type TableSearch = {
  page?: number | undefined
  sortBy?: string | undefined
  sortOrder?: 'ASC' | 'DESC' | undefined
  /** Where the list begins; undefined: at its first item. */
  after?: string | undefined
}

/**
 * Changes a table's filters, sorting and page in the address. To read them, use `route.useSearch()`.
 *
 * @returns a function that sets some fields and leaves the other fields unchanged; undefined removes a field. If only the page
 *   changes, the list stays the same. Any other change goes to the beginning of the list, or to the page that it sets
 */
export function useSetSearch<Search extends object>(): (change: Partial<Search>) => void {
  const navigate = useNavigate()
  return useCallback(
    change => {
      // If only the page number changes, the list must still begin at the same item, so `after` is kept.
      const isTurned = Object.keys(change).join() === 'page'
      const next = (before: object) => ({
        ...before,
        page: undefined,
        ...(!isTurned && { after: undefined }),
        ...change,
      })
      // `.` is the page that called this hook. The router does not know its search fields here; the type parameter checks them.
      void navigate({ to: '.', search: next as never, state: true, replace: true, resetScroll: false })
    },
    [navigate],
  )
}
