import { useNavigate } from '@tanstack/react-router'
import { useCallback } from 'react'

export type TableSearch = {
  page?: number | undefined
  sortBy?: string | undefined
  sortOrder?: 'ASC' | 'DESC' | undefined
  /** The position at which the list begins; undefined means its first item. */
  after?: string | undefined
}

/**
 * Changes a table's filters, sorting and page in the address. To read them, use `route.useSearch()`.
 *
 * @returns a function that sets the given fields; undefined removes a field. If only `page` is given, all other fields
 * stay. Any other change makes another list, so it removes the old `page` and `after`
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
      // `.` is the current page. The router cannot check the search fields here, so the type parameter does.
      void navigate({ to: '.', search: next as never, state: true, replace: true, resetScroll: false })
    },
    [navigate],
  )
}
