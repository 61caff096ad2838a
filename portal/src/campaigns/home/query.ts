/** What merchants and banks read for their home, and what it keeps in its address. */
import { keepPreviousData, queryOptions } from '@tanstack/react-query'
import { answer, api } from '../../api/client.ts'
import { counting, oneOf, searchParams } from '../../routing/search.ts'

/** In the order in which they are offered to choose from: what brings money first. */
export const taskKinds = [
  'mark-paid',
  'acknowledge-compensation',
  'confirm-settlement',
  'answer-report',
  'upload-report',
  'launch-possible',
  'decide-invitation',
] as const
export type TaskKind = (typeof taskKinds)[number]

/** `kind` and `page` of what waits for the person, `others` the page of what waits for others. */
export const homeSearch = searchParams({ kind: oneOf(taskKinds), page: counting, others: counting })
export type HomeSearch = ReturnType<typeof homeSearch>

export type HomeAsked = { waitsFor?: 'me' | 'other'; kind?: TaskKind | undefined; page?: number | undefined }

const pageSize = 10

/** @param area whose home it is: the first word of the keys of its queries */
export const partnersHomeQuery = (area: 'merchant' | 'bank', { waitsFor = 'me', kind, page = 1 }: HomeAsked = {}) =>
  queryOptions({
    queryKey: [area, 'home', waitsFor, kind, page],
    placeholderData: keepPreviousData,
    queryFn: ({ signal }) =>
      answer(
        api.GET('/portal/home', { params: { query: { waitsFor, page, pageSize, ...(kind && { kind }) } }, signal }),
      ),
  })
