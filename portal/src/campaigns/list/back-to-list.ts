/** Remembers the filters and the page of the list from which somebody opened a campaign. */
import { useLocation } from '@tanstack/react-router'

/** @param search the filters and the page of the list. Pass the result as `state` to links to its campaigns */
export const fromList = (search: object) => ({ campaignsList: search })

/** @returns the search of the list from which the person came; {} if they came from elsewhere */
export function useListSearch<Search extends object>(): Search | Record<string, never> {
  // Only `fromList` of the same area writes this state, so it has the fields of `Search`.
  return (useLocation().state.campaignsList ?? {}) as Search
}

declare module '@tanstack/react-router' {
  interface HistoryState {
    campaignsList?: object
  }
}
