/**
 * The cursors of histories. An entry's number counts the entries of all campaigns, so it would tell a partner how busy
 * others are. A cursor is the encrypted number, bound to its campaign and its reader (contract/campaigns.md, "History").
 */
import { broken } from '../../error-rules.ts'
import { DomainError } from '../../errors.ts'
import { createSealer } from '../../sealing.ts'
import type { Reader } from './store.ts'

/** The history that a cursor belongs to. */
export type HistoryScope = { cashbackId: string; reader: Reader }

export type HistoryCursors = {
  /** @param entry the number of an entry; the cursor leads to the entries before it */
  write(scope: HistoryScope, entry: number): string
  /** @throws DomainError 'invalid' for a cursor of another campaign or reader, and for any text that is no cursor */
  read(scope: HistoryScope, cursor: string): number
}

export type HistoryCursorDeps = { historyCursors: HistoryCursors }

/** A number has 8 bytes. The sealer adds 32. */
const numberBytes = 8
/** The form of a cursor: 40 bytes in base64url. */
export const cursorPattern = '^[A-Za-z0-9_-]{54}$'

/** @param masterKeys a cursor is refused once the key that made it is removed */
export function createHistoryCursors(masterKeys: readonly Buffer[]): HistoryCursors {
  const sealer = createSealer(masterKeys, 'history-cursors')
  return {
    write(scope, entry) {
      const number = Buffer.alloc(numberBytes)
      number.writeBigUInt64BE(BigInt(entry))
      return sealer.seal(number, bytesOf(scope)).toString('base64url')
    },
    read(scope, cursor) {
      try {
        return Number(sealer.open(Buffer.from(cursor, 'base64url'), bytesOf(scope)).readBigUInt64BE())
      } catch {
        throw new DomainError('invalid', [broken('before', 'cursor')])
      }
    },
  }
}

const bytesOf = ({ cashbackId, reader }: HistoryScope): Buffer =>
  Buffer.from(['id' in reader ? reader.id : '', reader.type, cashbackId].join(' '))
