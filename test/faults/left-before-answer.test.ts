/** A client disconnects before its long answer begins: the check for lost access ends, too (contract/access.md, "Losing access"). */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { issueCredential, revokeCredential } from '../../src/access/operations.ts'
import { createLogger } from '../../src/log.ts'
import { campaignDirectory, createCampaign } from '../support/campaigns.ts'
import { startPlatform } from '../support/platform.ts'
import { openRaw, requestText } from '../support/raw-http.ts'

test('an answer whose client has left before it began is not checked for lost access any more', async context => {
  const lines: string[] = []
  const logger = createLogger('info', { write: line => void lines.push(line) })
  const platform = await startPlatform({}, { logger, directory: campaignDirectory })
  context.after(() => platform.close())
  const { database } = platform.platform
  const campaign = await createCampaign(platform)
  const input = { partner: { merchant: 'grocer' }, role: 'gateway', label: 'left' } as const
  const credential = await issueCredential({ database }, input)
  const { body } = await platform.call('POST', '/getToken/auth', { body: credential })

  const socket = await openRaw(platform.url)
  await database.transaction(async holder => {
    await holder.execute('lock table campaigns in access exclusive mode')
    const headers = { authorization: `Bearer ${body.access_token}` }
    socket.write(requestText('GET', `/portal/cashbacks/${campaign}/terminals.csv`, headers))
    await sleep(300)
    socket.destroy()
    await sleep(300)
  })
  await revokeCredential({ database }, credential.clientId)
  await sleep(5_000)
  assert.deepEqual(
    lines.filter(line => line.includes('lost access')),
    [],
  )
})
