/**
 * A merchant reads its campaigns page by page (contract/campaigns.md, "Merchant list"). Two caches make this fast.
 *
 * The first holds the sorted ids of all campaigns that match a filter. With them, the last page of a list of a hundred
 * thousand campaigns is read as fast as the first. For the first pages, only the beginning of the sorted ids is read,
 * because the ids must be read again after each change. The second cache holds the text of pages. A page that has not
 * changed is sent again almost without work.
 *
 * Each cached entry has the version of the merchant's campaigns. It is used only while the database still has this
 * version.
 */
import type { Queryable } from '../../db/database.ts'
import * as store from './list-store.ts'

export type MerchantPage = { items: store.ListItem[]; page: number; pageSize: number; totalItems: number }

export type MerchantLists = {
  /** One page as JSON text in UTF-8. */
  page(merchantId: string, request: store.ListRequest): Promise<Buffer>
}

type Remembered = store.ListVersion & { bytes: Buffer }

type RememberedOrder = Remembered & { total: number }

/**
 * How much is cached. `orders` and `pages` are numbers of bytes. `orders` is enough for the sorted ids of thirty lists
 * of a hundred thousand campaigns, `pages` for some hundred full pages. `beginning` is the number of campaigns whose
 * ids are read for the first pages.
 */
const defaultLimits = { orders: 48 * 1024 * 1024, pages: 16 * 1024 * 1024, beginning: 1_000 }
/** Memory of an entry besides its bytes and its key. */
const overheadBytes = 512
/**
 * Maximum number of tries to read a page. When the list changes during every try, the answer is the result of the last
 * try.
 */
const maxTries = 3

/**
 * Creates the reader of merchants' lists, with its caches.
 *
 * @param textOf formats a page as partners see it
 * @param limits how much is cached
 */
export function createMerchantLists(
  database: Queryable,
  textOf: (page: MerchantPage) => string,
  limits = defaultLimits,
): MerchantLists {
  const orders = createOrders(database, limits)
  const pages = createMemory<Remembered>(limits.pages)

  const readPage = async (key: string, merchantId: string, request: store.ListRequest): Promise<Buffer> => {
    const { page, pageSize, sort } = request
    for (let tries = 1; ; tries++) {
      const order = orders.take(key, request) ?? (await orders.read(key, merchantId, request))
      const ids = order.bytes
      const { items, ...version } = await store.findItems(database, { merchantId, ids, page, pageSize })
      // The cached ids are still in the right order if the fields that the list is sorted by have not changed.
      // `updatedAt` changes with every change of a campaign, so a list that is sorted by it needs the counter of all
      // changes.
      const holds = sort.by === 'updatedAt' ? version.touched === order.touched : version.arranged === order.arranged
      if (!holds) orders.forget(key, order)
      if (!holds && tries < maxTries) continue
      const bytes = Buffer.from(textOf({ items, page, pageSize, totalItems: order.total }))
      if (holds) pages.put(pageKey(key, request), { ...version, bytes })
      return bytes
    }
  }

  return {
    async page(merchantId, request) {
      const key = JSON.stringify([merchantId, request.filter, request.sort])
      const known = pages.take(pageKey(key, request))
      if (known) {
        const { touched } = await store.readVersion(database, merchantId)
        if (touched === known.touched) return known.bytes
      }
      return readPage(key, merchantId, request)
    },
  }
}

/**
 * Reads and caches the ids of a merchant's campaigns in the order of a list. @param limits as for `createMerchantLists`
 */
function createOrders(database: Queryable, limits: typeof defaultLimits) {
  const orders = createMemory<RememberedOrder>(limits.orders)
  const reading = new Map<string, Promise<RememberedOrder>>()

  return {
    /** Returns the cached ids, if they include all campaigns of the requested page. */
    take(key: string, request: store.ListRequest): RememberedOrder | undefined {
      const order = orders.take(key)
      const isThere = order && store.countIds(order.bytes) >= Math.min(order.total, lastOf(request))
      return isThere ? order : undefined
    },

    /** Reads the ids from the database. Callers that ask for the same list at the same time share one read. */
    read(key: string, merchantId: string, request: store.ListRequest): Promise<RememberedOrder> {
      const { filter, sort } = request
      const isEnough = store.isQuicklyCounted(filter) && lastOf(request) <= limits.beginning
      const max = isEnough ? limits.beginning : null
      const readKey = `${max} ${key}`
      const running = reading.get(readKey)
      if (running) return running
      const order = store.findOrder(database, { merchantId, filter, sort, max }).then(({ ids, ...version }) => {
        const found = { ...version, bytes: ids }
        orders.put(key, found)
        return found
      })
      reading.set(readKey, order)
      const ended = () => reading.delete(readKey)
      order.then(ended, ended)
      return order
    },

    forget: orders.forget,
  }
}

/** The position in the list of the last campaign of the requested page. */
const lastOf = ({ page, pageSize }: store.ListRequest): number => page * pageSize

const pageKey = (key: string, { page, pageSize }: store.ListRequest): string => `${page} ${pageSize} ${key}`

/** A bounded cache; it drops the least recently used entry first. */
function createMemory<Entry extends Remembered>(limitBytes: number) {
  const entries = new Map<string, Entry>()
  let total = 0
  const sizeOf = (key: string, { bytes }: Entry): number => bytes.length + 2 * key.length + overheadBytes

  const forget = (key: string, entry: Entry | undefined): void => {
    if (entry === undefined || entries.get(key) !== entry) return
    entries.delete(key)
    total -= sizeOf(key, entry)
  }
  return {
    take(key: string): Entry | undefined {
      const entry = entries.get(key)
      if (entry) {
        entries.delete(key)
        entries.set(key, entry)
      }
      return entry
    },
    put(key: string, entry: Entry): void {
      forget(key, entries.get(key))
      entries.set(key, entry)
      total += sizeOf(key, entry)
      for (const [oldest, other] of entries) {
        if (total <= limitBytes) return
        forget(oldest, other)
      }
    },
    forget,
  }
}
