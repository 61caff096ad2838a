/** Reports that are larger than a report file may be (contract/reconciliation.md, "The report file"). */
import assert from 'node:assert/strict'
import { openAsBlob } from 'node:fs'
import { mkdtemp, open, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { assertRefused, campaignDirectory } from '../support/campaigns.ts'
import { startPlatform, type TestPlatform } from '../support/platform.ts'
import {
  type Ended,
  endedCampaign,
  header,
  leavesNoReport,
  line,
  openSides,
  type Sides,
  uploadBank,
} from '../support/reconciliation.ts'

let platform: TestPlatform
let sides: Sides
let campaign: Ended
before(async () => {
  platform = await startPlatform({}, { directory: campaignDirectory })
  sides = await openSides(platform)
  campaign = await endedCampaign(sides, [sides.alpha])
})
after(() => platform.close())

const leavesNothing = (work: () => Promise<unknown>): Promise<void> =>
  leavesNoReport(platform.platform.database, { bank: sides.alpha, campaignId: campaign.id }, work)

test('400: more than a million lines', () =>
  leavesNothing(async () => {
    const lines = `${line(campaign, 'a')}\n`.repeat(1_000_001)
    assertRefused(await uploadBank(sides.alpha, campaign.id, `${header}\n${lines}`), 400, [
      'file must have at most 1000000 lines below its header',
    ])
  }))

test('413: more than 256 MiB', () =>
  leavesNothing(async () => {
    const folder = await mkdtemp(join(tmpdir(), 'perkline-large-'))
    const large = await open(join(folder, 'large.csv'), 'w')
    await large.truncate(257 * 1024 * 1024)
    await large.close()
    const form = new FormData()
    form.append('file', await openAsBlob(join(folder, 'large.csv')), 'large.csv')
    const answer = await fetch(`${platform.url}/portal/cashbacks/${campaign.id}/bank-report`, {
      method: 'POST',
      headers: { authorization: `Bearer ${sides.alpha.token}` },
      body: form,
    })
    await rm(folder, { recursive: true })
    assert.equal(answer.status, 413)
    assert.match(await answer.text(), /"message":"The file is larger than 256 MiB"/)
  }))
