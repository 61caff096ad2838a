/** Makes the stock of a generated database. Each profile is encrypted for its own row, as in production. */
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import type pg from 'pg'
import { from as copyFrom } from 'pg-copy-streams'
import { profileLines } from '../../samples/make-profiles.ts'
import { copyHeader, copyTrailer } from '../../src/db/streaming/copy-format.ts'
import { type CopyValue, encodeRows } from '../../src/esim/stock/copy.ts'
import type { Sealing } from '../../src/esim/stock/sealing.ts'
import { followOn } from './directory.ts'
import { firstProfile, profilesOfTariff, type Sizes, tariffs } from './sizes.ts'

const rowsAtOnce = 1_000

/** Loads the profiles with `copy`, tariff by tariff. */
export async function makeProfiles(client: pg.Client, sealing: Sealing, sizes: Sizes): Promise<void> {
  await client.query(`alter table profiles alter imported_at set default now() - interval '380 days'`)
  const lines = profileLines({ count: tariffs * profilesOfTariff(sizes), seed: 1 })
  lines.next()
  for (let tariff = 1; tariff <= tariffs; tariff++) {
    // The copied rows have the form of an import and contain no tariff, so the default of the column adds the tariff.
    await client.query(`alter table profiles alter tariff_id set default ${tariff}`)
    const into = client.query(
      copyFrom('copy profiles (profile_id, iccid_hash, msisdn, sealed) from stdin (format binary)'),
    )
    const first = firstProfile(sizes, tariff)
    await pipeline(Readable.from(pieces(lines, { sealing, tariff, first, count: profilesOfTariff(sizes) })), into)
  }
  await client.query('alter table profiles alter imported_at drop default, alter tariff_id drop default')
  await client.query(followOn('profiles', 'profile_id'))
}

type Params = { sealing: Sealing; tariff: number; first: number; count: number }

function* pieces(lines: Generator<string>, { sealing, tariff, first, count }: Params): Generator<Buffer> {
  yield copyHeader
  for (let at = 0; at < count; at += rowsAtOnce) {
    const length = Math.min(rowsAtOnce, count - at)
    yield encodeRows(
      Array.from({ length }, (_, n) => sealedRow(sealing, lines.next().value, { tariff, id: first + at + n })),
    )
  }
  yield copyTrailer
}

function sealedRow(sealing: Sealing, line: string, { tariff, id }: { tariff: number; id: number }): CopyValue[] {
  const [iccid = '', msisdn = '', pin1 = '', activationCode = ''] = line.trimEnd().split(',')
  const iccidHash = sealing.hashIccid(iccid)
  const row = { profileId: id, tariffId: tariff, iccidHash }
  return [id, iccidHash, msisdn, sealing.seal({ iccid, pin1, activationCode }, row)]
}
