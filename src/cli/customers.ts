/** The commands of `perkline customers`. */
import { callAdmin } from './connection.ts'
import { type OpenFile, openFile } from './files.ts'
import { counted, type OutputOptions, print } from './output.ts'
import { sending, showProgress } from './progress.ts'

export type CustomerOptions = OutputOptions & { bank: string }

/** `perkline customers import FILE.csv`: loads the list of a bank's customers. */
export async function importCustomers(path: string, options: CustomerOptions): Promise<void> {
  const work = { title: 'Importing', path: '/customers', refusal: 'Nothing was imported from' }
  const result = await withFile<{ imported: number; duplicates: number }>(path, options, work)
  print(options, result, [`${result.imported} imported, ${counted(result.duplicates, 'duplicate', 'duplicates')}`])
}

/** `perkline customers forget FILE.csv`: removes customers from the directory and from segments. */
export async function forgetCustomers(path: string, options: CustomerOptions): Promise<void> {
  const work = { title: 'Forgetting', path: '/customers/forget', refusal: 'Nobody was forgotten by' }
  const result = await withFile<{ forgotten: number; unknown: number }>(path, options, work)
  print(options, result, [`${counted(result.forgotten, 'customer', 'customers')} forgotten, ${result.unknown} unknown`])
}

type Kept = {
  customerId: string
  bank: { code: string }
  inDirectory: boolean
  segments: { cashbackId: string; campaignName: string; formedAt: string }[]
}

/** `perkline customers export ID`: exports the stored data of one customer. */
export async function exportCustomer(customerId: string, options: CustomerOptions): Promise<void> {
  const json = { customerId, bank: options.bank }
  const kept = await callAdmin<Kept>({ method: 'POST', path: '/customers/export', json })
  const directory = kept.inDirectory ? 'in the customer directory' : 'not in the customer directory'
  print(options, kept, [
    `${kept.customerId} of ${kept.bank.code}: ${directory}, in ${counted(kept.segments.length, 'segment', 'segments')}`,
    ...kept.segments.map(({ cashbackId, campaignName, formedAt }) => `  ${formedAt}  ${cashbackId}  ${campaignName}`),
  ])
}

type FileWork = { title: string; path: string; refusal: string }

/** Streams a file of customers to the platform, with bounded memory for any length. */
async function withFile<Result>(path: string, options: CustomerOptions, work: FileWork): Promise<Result> {
  const source = { path, file: await openFile(path) }
  try {
    return await sendFile<Result>(source, options, work)
  } finally {
    // Do not wait here: a pipe that is being read closes only when its writer closes it.
    source.file.close().catch(() => {})
  }
}

async function sendFile<Result>(source: OpenFile, { bank }: CustomerOptions, work: FileWork): Promise<Result> {
  const progress = await showProgress(work.title)
  try {
    return await callAdmin<Result>({
      method: 'POST',
      path: `${work.path}?${new URLSearchParams({ bank })}`,
      csv: sending(source, progress),
      long: true,
      refusal: `${work.refusal} ${source.path}`,
    })
  } finally {
    progress.end()
  }
}
