/** The query of the home pages of merchants and banks, and its state in the address. */
import { keepPreviousData, queryOptions } from '@tanstack/react-query'
import { answer, api } from '../../api/client.ts'
import { counting, oneOf, searchParams } from '../../routing/search.ts'

/** The kinds of tasks, in the order in which the filter shows them. Tasks about payments come first. */
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

/** `kind` and `page` are for the person's own tasks, `others` is the page of the tasks of others. */
export const homeSearch = searchParams({ kind: oneOf(taskKinds), page: counting, others: counting })
export type HomeSearch = ReturnType<typeof homeSearch>

export type HomeParams = { waitsFor?: 'me' | 'other'; kind?: TaskKind | undefined; page?: number | undefined }

const pageSize = 10

/** @param area the kind of account whose home is read; also the first word of the query's key */
export const partnersHomeQuery = (area: 'merchant' | 'bank', { waitsFor = 'me', kind, page = 1 }: HomeParams = {}) =>
  queryOptions({
    queryKey: [area, 'home', waitsFor, kind, page],
    placeholderData: keepPreviousData,
    queryFn: ({ signal }) =>
      answer(
        api.GET('/portal/home', { params: { query: { waitsFor, page, pageSize, ...(kind && { kind }) } }, signal }),
      ),
  })
