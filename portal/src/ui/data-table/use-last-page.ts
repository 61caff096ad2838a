import { useEffect } from 'react'

/**
 * Redirects an address with a page past the end to the last page.
 *
 * @param paging the position in the loaded list; undefined while the list is not loaded
 * @param onPage changes the address; undefined: the first page
 * @returns whether a redirect is pending
 */
export function useLastPage(
  paging: { page: number; totalPages: number } | undefined,
  onPage: (page: number | undefined) => void,
): boolean {
  const last = Math.max(paging?.totalPages ?? 1, 1)
  const isPast = paging !== undefined && paging.page > last
  // biome-ignore lint/correctness/useExhaustiveDependencies: the redirect depends on the page only, not on the callback
  useEffect(() => {
    if (isPast) onPage(last === 1 ? undefined : last)
  }, [isPast, last])
  return isPast
}
