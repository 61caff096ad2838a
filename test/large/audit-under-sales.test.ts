/** The audit reports no false error while all the data that it checks is changing. */
import assert from 'node:assert/strict'
import { randomInt } from 'node:crypto'
import { test } from 'node:test'
import { launchCampaign, moveClock, openPartners } from '../support/campaign-moves.ts'
import { campaignDirectory, createCampaign } from '../support/campaigns.ts'
import { bankAt, openBank, range } from '../support/esim.ts'
import { startPlatform } from '../support/platform.ts'

const esim = `
esim:
  operators:
    - { code: kyivstar, nameUk: Київстар, country: UA, tariffs: [
        { code: eu-10gb, name: Europe, price: 399.00, currency: UAH, validityDays: 30 }] }
`

test('no false alarm while 64 sellers, a merchant and the clock change everything', { timeout: 180_000 }, async () => {
  const platform = await startPlatform({}, { directory: campaignDirectory + esim })
  let going = true
  let working: Promise<unknown> = Promise.resolve()
  try {
    await platform.addStock('kyivstar', 'eu-10gb', 1_500)
    const bank = bankAt(platform, (await openBank(platform)).token)
    const partners = await openPartners(platform)
    const statuses = new Map<number, number>()
    const note = ({ status }: { status: number }) => statuses.set(status, (statuses.get(status) ?? 0) + 1)
    const sellers = range(64).map(async seller => {
      for (let sale = 0; going; sale++) {
        const reserved = await bank.reserve(`${seller}-${sale}`)
        note(reserved)
        const way = randomInt(4)
        if (reserved.status === 201 && way === 0) note(await bank.confirm(reserved.body.orderId))
        if (reserved.status === 201 && way === 1) note(await bank.cancel(reserved.body.orderId))
      }
    })
    const merchant = (async () => {
      while (going) {
        await createCampaign(platform, {}, partners.grocer)
        await launchCampaign(platform, partners)
      }
    })()
    const time = (async () => {
      // Reservations and campaigns become due during the whole test.
      while (going) await moveClock(platform, { advance: randomInt(10) === 0 ? 'P12D' : 'PT16M' })
    })()
    working = Promise.all([...sellers, merchant, time])
    for (let audited = 0; audited < 8; audited++) {
      const { status, body, text } = await platform.call('GET', '/admin/audit', { token: platform.config.operatorKey })
      assert.equal(status, 200, text)
      assert.deepEqual(
        body.checks.filter(({ ok }: { ok: boolean }) => !ok),
        [],
      )
    }
    going = false
    await working
    assert.ok((statuses.get(201) ?? 0) > 200, JSON.stringify([...statuses]))
    const { body } = await platform.call('GET', '/admin/audit', { token: platform.config.operatorKey })
    assert.equal(body.ok, true)
  } finally {
    going = false
    await working
    await platform.close()
  }
})
