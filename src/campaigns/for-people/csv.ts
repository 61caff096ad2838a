/** A partner's campaigns as a CSV file (RFC 4180) of any length, read from the database as fast as the client reads. */
import { Readable } from 'node:stream'
import type { Database } from '../../db/database.ts'
import { csvCell, csvMark } from '../../text/csv-cell.ts'
import { bankReportingStatus, isSettled } from '../lifecycle/lifecycle.ts'
import { type ExportedCampaign, type ExportSearch, readExported } from './export-store.ts'
import type { Party } from './home-store.ts'

type Cell = string | number | boolean | null
type Column = { name: string; cell(campaign: ExportedCampaign): Cell }

const plain = (...names: (keyof ExportedCampaign)[]): Column[] =>
  names.map(name => ({ name, cell: campaign => cellOf(campaign[name]) }))
const cellOf = (value: ExportedCampaign[keyof ExportedCampaign]): Cell =>
  value instanceof Date ? value.toISOString() : value

const terms = plain(
  'dateFrom',
  'dateTo',
  'percentage',
  'merchantCompensationPercentage',
  'minAmount',
  'maxAmount',
  'maxBudget',
  'currency',
  'expectedCompensation',
  'createdAt',
  'updatedAt',
)
const columns: Record<Party['type'], Column[]> = {
  bank: [
    ...plain('cashbackId', 'name', 'retailerName', 'createdByType', 'status', 'bankStatus'),
    { name: 'bankReportingStatus', cell: ({ stage }) => bankReportingStatus(stage) },
    { name: 'settlementConfirmed', cell: ({ stage }) => isSettled(stage) },
    ...terms,
  ],
  retailer: [...plain('cashbackId', 'name', 'createdByType', 'status', 'banksInvited', 'banksApproved'), ...terms],
}

export const columnNames = (party: Party['type']): string[] => columns[party].map(({ name }) => name)

/** @param signal aborts when the client disconnects */
export function campaignsCsv(database: Database, party: Party, search: ExportSearch, signal: AbortSignal): Readable {
  return Readable.from(pieces(party, readExported(database, party, search, signal)), { objectMode: false })
}

async function* pieces(party: Party, exported: ReturnType<typeof readExported>): AsyncGenerator<string> {
  const shown = columns[party.type]
  yield csvMark + lineOf(shown.map(({ name }) => name))
  for await (const campaigns of exported)
    yield campaigns.map(campaign => lineOf(shown.map(({ cell }) => cell(campaign)))).join('')
}

const lineOf = (cells: readonly Cell[]): string => `${cells.map(csvCell).join(',')}\r\n`
