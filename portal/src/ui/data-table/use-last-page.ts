import { useEffect } from 'react'

/**
 * An address that names a page past the end leads to the last one.
 *
 * @param paging of what was read; undefined while it is not there
 * @param onPage changes the address; undefined: the first page
 * @returns whether it is on its way there
 */
export function useLastPage(
  paging: { page: number; totalPages: number } | undefined,
  onPage: (page: number | undefined) => void,
): boolean {
  const last = Math.max(paging?.totalPages ?? 1, 1)
  const isPast = paging !== undefined && paging.page > last
  // biome-ignore lint/correctness/useExhaustiveDependencies: it goes by the page, not by who listens
  useEffect(() => {
    if (isPast) onPage(last === 1 ? undefined : last)
  }, [isPast, last])
  return isPast
}
