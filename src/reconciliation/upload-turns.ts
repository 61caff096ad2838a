/** Uploads keep a connection to the database and a transaction for as long as they take: a bounded number of them runs at once. */
import { DomainError } from '../errors.ts'

export type UploadTurns = <T>(partnerId: string, work: () => Promise<T>) => Promise<T>

/** @param limits how many run at once, and how many of these are of one partner; whoever comes beyond is refused ('unavailable') */
export function createUploadTurns(limits: { atOnce: number; perPartner: number }): UploadTurns {
  const running: string[] = []
  return async (partnerId, work) => {
    const own = running.filter(other => other === partnerId).length
    if (running.length >= limits.atOnce || own >= limits.perPartner)
      throw new DomainError('unavailable', 'Other uploads are still running: try again in a moment', {
        retryAfterSeconds: 10,
      })
    running.push(partnerId)
    try {
      return await work()
    } finally {
      running.splice(running.indexOf(partnerId), 1)
    }
  }
}
