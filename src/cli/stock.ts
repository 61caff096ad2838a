/** The command `perkline stock`. */
import type { StockCount } from '../esim/sold/figures-store.ts'
import { callAdmin } from './connection.ts'
import { type OutputOptions, print, table } from './output.ts'

/** `perkline stock`: the number of profiles of each tariff, by state. */
export async function showStock(options: OutputOptions): Promise<void> {
  const stock = await callAdmin<StockCount[]>({ method: 'GET', path: '/stock' })
  const rows = stock.map(tariff => [
    tariff.operatorCode,
    tariff.tariffCode,
    tariff.free,
    tariff.reserved,
    tariff.sold,
    tariff.withdrawn,
  ])
  const lines = table(['OPERATOR', 'TARIFF', 'FREE', 'RESERVED', 'SOLD', 'WITHDRAWN'], rows)
  print(options, stock, rows.length === 0 ? ['There are no tariffs yet.'] : lines)
}
