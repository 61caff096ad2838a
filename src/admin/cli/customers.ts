import { callAdmin } from './connection.ts'
import { type OpenFile, openFile } from './files.ts'
import { counted, type OutputOptions, print } from './output.ts'
import { sending, showProgress } from './progress.ts'

export type CustomerOptions = OutputOptions & { bank: string }

type Result = { imported: number; duplicates: number }

/** `perkline customers import FILE.csv`: tells the platform which customers are a bank's; memory is bounded, however long the file is. */
export async function importCustomers(path: string, options: CustomerOptions): Promise<void> {
  const source = { path, file: await openFile(path) }
  try {
    const result = await sendFile(source, options)
    print(options, result, [`${result.imported} imported, ${counted(result.duplicates, 'duplicate', 'duplicates')}`])
  } finally {
    // Not waited for: a pipe that is still being read closes only when its writer does.
    source.file.close().catch(() => {})
  }
}

async function sendFile(source: OpenFile, { bank }: CustomerOptions): Promise<Result> {
  const progress = await showProgress('Importing')
  try {
    return await callAdmin<Result>({
      method: 'POST',
      path: `/customers?${new URLSearchParams({ bank })}`,
      csv: sending(source, progress),
      long: true,
      refusal: `Nothing was imported from ${source.path}`,
    })
  } finally {
    progress.end()
  }
}
