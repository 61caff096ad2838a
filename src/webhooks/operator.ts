/** Operations on feeds that only the operator may call. */

import type { Database } from '../db/database.ts'
import { recordEntries } from '../outbox/audit-entry-writing.ts'
import type { Origin } from '../outbox/origin.ts'
import { restartFeeds } from './operator-store.ts'

/** Gives every account a new feed, after a restore to an earlier time. @returns the number of feeds */
export function beginFeedsAnew({ database, origin }: { database: Database; origin: Origin }): Promise<number> {
  return database.transaction(async transaction => {
    const feeds = await restartFeeds(transaction)
    await recordEntries(transaction, origin, [{ action: 'feeds.restarted', object: { type: 'feeds', id: null } }])
    return feeds
  })
}
