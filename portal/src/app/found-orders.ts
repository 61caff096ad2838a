import { keepPreviousData, queryOptions } from '@tanstack/react-query'
import { answer, api } from '../api/client.ts'

/** For the operator: a few eSIM orders whose bank reference begins with this text, newest first. */
export const foundOrdersQuery = (externalId: string) =>
  queryOptions({
    queryKey: ['found-orders', externalId],
    placeholderData: keepPreviousData,
    async queryFn({ signal }) {
      const query = { externalId, limit: 5 }
      return (await answer(api.GET('/admin/orders', { params: { query }, signal }))).data
    },
  })
