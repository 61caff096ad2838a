/** Many callers over two platforms on one database, for tests of races. */
import assert from 'node:assert/strict'
import { assertError, type Bank, bankAt, type EsimAnswer, openBank } from './esim.ts'
import { startPlatform, type TestPlatform } from './platform.ts'

export const shuffled = <Item>(items: readonly Item[]): Item[] =>
  items
    .map(item => ({ item, at: Math.random() }))
    .sort((a, b) => a.at - b.at)
    .map(({ item }) => item)

/** Asserts that every answer has one of these status codes. */
export function assertOnly(answers: readonly EsimAnswer[], ...codes: number[]): void {
  for (const answer of answers) assert.ok(codes.includes(answer.status), `${answer.status} ${answer.text}`)
}

export type TwoPlatforms = {
  platform: TestPlatform
  sibling: TestPlatform
  /** The same bank at both platforms. */
  banks: [Bank, Bank]
}

export async function openTwoPlatforms(): Promise<TwoPlatforms> {
  const platform = await startPlatform({}, { only: ['auth', 'esim', 'admin'] })
  const sibling = await platform.sibling()
  const alpha = await openBank(platform)
  return { platform, sibling, banks: [alpha, bankAt(sibling, alpha.token)] }
}

let lastId = 0
export const newId = () => `race-${++lastId}`

/** Reserves until the tariff has no profile. @returns how many were sold */
export async function sellOut(
  bankOf: (index: number) => Bank,
  tariffCode: string,
  operatorCode = 'kyivstar',
): Promise<number> {
  for (let sold = 0; ; sold++) {
    const answer = await bankOf(sold).reserve({ operatorCode, tariffCode, externalId: newId() })
    if (answer.status === 201) continue
    assertError(answer, 503)
    return sold
  }
}
