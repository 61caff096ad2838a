import assert from 'node:assert/strict'
import { createReadStream } from 'node:fs'
import { readdir, readFile } from 'node:fs/promises'
import { test } from 'node:test'
import { readStockLines, type StockResult } from '../../src/esim/stock/file.ts'
import { readDirectory, terminalsFilesOf } from '../../src/partners/file/directory-file.ts'

const samples = new URL('../../samples/', import.meta.url)

async function sampleDirectory() {
  const yamlText = await readFile(new URL('directory.yaml', samples), 'utf8')
  const texts = terminalsFilesOf(yamlText).map(
    async path => [path, await readFile(new URL(path, samples), 'utf8')] as const,
  )
  const read = readDirectory(yamlText, new Map(await Promise.all(texts)))
  assert.ok(!('errors' in read), 'errors' in read ? read.errors.join('\n') : '')
  return read
}

test('the sample directory has no fault and refers only to codes of its own', async () => {
  const { directory, references } = await sampleDirectory()
  const known = {
    bank: directory.banks.map(bank => bank.code),
    mobileOperator: directory.mobileOperators.map(operator => operator.code),
  }
  for (const { kind, code, path } of references) assert.ok(known[kind].includes(code), path)
  assert.deepEqual(
    directory.merchants.map(merchant => merchant.terminals?.length),
    [3, 5],
  )
})

test('the sample directory shows both delivery modes, and a merchant for each bank', async () => {
  const { banks, merchants } = (await sampleDirectory()).directory
  assert.deepEqual(
    banks.map(bank => [bank.code, bank.esim?.deliveryMode]),
    [
      ['alpha', 'local'],
      ['beta', 'qr_email'],
    ],
  )
  for (const { code } of banks) assert.ok(merchants.some(merchant => !merchant.excludedBanks?.includes(code)))
})

test('the sample directory shows the status of a bank, a merchant and a mobile operator', async () => {
  const { banks, merchants, mobileOperators } = (await sampleDirectory()).directory
  for (const list of [banks, merchants, mobileOperators]) assert.equal(list[0]?.status, 'active')
})

test('every sample stock file belongs to a tariff, all its lines are good, and no ICCID or number comes twice', async () => {
  const { mobileOperators } = (await sampleDirectory()).directory
  const tariffs = mobileOperators.flatMap(({ code, tariffs }) => tariffs.map(tariff => `${code}.${tariff.code}.csv`))
  const seen = new Set<string>()
  let lines = 0
  const files = await readdir(new URL('profiles/', samples))
  for (const file of files) {
    assert.ok(tariffs.includes(file), file)
    for (const result of await resultsOf(new URL(`profiles/${file}`, samples))) {
      assert.ok('line' in result, file)
      seen.add(result.line.iccid).add(result.line.msisdn)
      lines++
    }
  }
  assert.equal(seen.size, 2 * lines)
  assert.ok(lines >= 200 && files.length < tariffs.length)
})

async function resultsOf(file: URL): Promise<StockResult[]> {
  const results: StockResult[] = []
  for await (const batch of readStockLines(createReadStream(file))) results.push(...batch.map(({ result }) => result))
  return results
}
