/** Shared by the tests of segments: a customer directory, files of customers, and banks' views of them. */
import assert from 'node:assert/strict'
import { Readable } from 'node:stream'
import { importCustomers } from '../../src/segments/customers.ts'
import type { Partner } from './campaigns.ts'
import type { Answer, TestPlatform } from './platform.ts'
import { formOf } from './reconciliation.ts'

/** Ids of customers: `prefix-1`, `prefix-2`, ... */
export const customers = (prefix: string, count: number): string[] =>
  Array.from({ length: count }, (_, index) => `${prefix}-${index + 1}`)

export const fileOf = (ids: readonly string[]): string => `customerId\n${ids.map(id => `${id}\n`).join('')}`

export function addCustomers({ platform }: TestPlatform, bank: string, ids: readonly string[]) {
  return importCustomers(platform, { bank, source: Readable.from([Buffer.from(fileOf(ids))]) })
}

export async function putSegment(
  merchant: Partner,
  cashbackId: string,
  file: string | Uint8Array,
  fileName = 'loyal.csv',
): Promise<Answer> {
  return merchant.call('PUT', `/portal/cashbacks/${cashbackId}/segment`, await formOf({ file, fileName }))
}

export type Segment = {
  segmentId: string
  cashbackId: string
  customersCount: number
  customerIds: string[]
  formedAt: string
  sourceFileName: string
}

/** What the bank's list shows of the campaign's segment. */
export async function segmentOf(bank: Partner, cashbackId: string): Promise<Segment | null> {
  const answer = await bank.call('GET', '/cashbacks/for-bank')
  assert.equal(answer.status, 200, answer.text)
  const found = answer.body.find((campaign: { cashbackId: string }) => campaign.cashbackId === cashbackId)
  assert.ok(found, 'the bank is invited')
  return found.segment
}
