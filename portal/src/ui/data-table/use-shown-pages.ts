import type { InfiniteData, UseInfiniteQueryResult } from '@tanstack/react-query'
import { useEffect } from 'react'

/**
 * A list that grows downwards ("show more"). The number of pages is in the address, so the same rows are there after a
 * reload or when the person comes back.
 *
 * @param shown the number of pages, from the address
 * @param onShown writes a new number of pages to the address
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
    // Missing pages are loaded without a click, but not after a failure: then the person must press the button.
    if (isMissing && !isFetching && !isError) void fetchNextPage()
  }, [isMissing, isFetching, isError, fetchNextPage])
  return {
    rows: data?.pages.slice(0, shown).flatMap(page => page.data),
    hasMore: hasNextPage || loaded > shown,
    isComing: isMissing && isFetching,
    showMore: () => (isMissing ? void fetchNextPage() : onShown(Math.min(shown, loaded) + 1)),
  }
}
