import type { InfiniteData, UseInfiniteQueryResult } from '@tanstack/react-query'
import { useEffect } from 'react'

/**
 * A list that grows downwards ("show more"), as far as the address says: after a reload, or back from another page, one finds the
 * same rows.
 *
 * @param shown how many pages there shall be, from the address
 * @param onShown puts another number there
 * @returns the rows of these pages; `hasMore`, `isComing` and `showMore` for the button below them
 */
export function useShownPages<Row>(
  query: UseInfiniteQueryResult<InfiniteData<{ data: Row[] }>>,
  shown = 1,
  onShown: (pages: number) => void,
) {
  const { data, hasNextPage, isFetching, isError, fetchNextPage } = query
  const loaded = data?.pages.length ?? 0
  const isMissing = loaded > 0 && loaded < shown && hasNextPage
  useEffect(() => {
    // After a failure only the button tries again.
    if (isMissing && !isFetching && !isError) void fetchNextPage()
  }, [isMissing, isFetching, isError, fetchNextPage])
  return {
    rows: data?.pages.slice(0, shown).flatMap(page => page.data),
    hasMore: hasNextPage || loaded > shown,
    isComing: isMissing && isFetching,
    showMore: () => (isMissing ? void fetchNextPage() : onShown(Math.min(shown, loaded) + 1)),
  }
}
