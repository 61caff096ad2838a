/**
 * A database keeps the mode of its first use (contract/security.md, "The mode of a database"), so that a database with
 * real customers never has sample logins or a movable clock.
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { issueCredential } from '../../../src/access/operations.ts'
import { bindMode, boundMode, type Mode } from '../../../src/db/mode.ts'
import { startPlatform } from '../../support/platform.ts'

const mail = { SMTP_URL: 'smtp://127.0.0.1:9', MAIL_FROM: 'a@b.example' }
const live = { PERKLINE_MODE: 'live', ...mail }

/** Deletes the stored mode, so that the database looks like one from version 0.2, which stored no mode. */
const forget = 'delete from database_mode'

test('a start in another mode than that of the first use fails, and changes nothing', async t => {
  for (const [first, second] of [
    [{}, live],
    [live, { PERKLINE_MODE: 'sandbox' }],
  ]) {
    const platform = await startPlatform(first)
    t.after(() => platform.close())
    const { mode } = platform.config
    await assert.rejects(
      platform.sibling({ ...mail, ...second }),
      (error: Error) =>
        error.message.includes(`belongs to ${mode} mode`) && error.message.includes(`PERKLINE_MODE=${mode}`),
    )
    assert.equal(await boundMode(platform.platform.database), mode)
    await (await platform.sibling()).close()
  }
})

test('a database of version 0.2 gets the mode that is given, but one with a moved clock or samples is a sandbox', async t => {
  const platform = await startPlatform(live)
  t.after(() => platform.close())
  const { database } = platform.platform
  await database.execute(forget)
  await bindMode(database, 'live')
  assert.equal(await boundMode(database), 'live')

  await database.execute(forget)
  await database.execute('update sandbox_clock set offset_ms = 60000')
  await assert.rejects(bindMode(database, 'live'), /belongs to sandbox mode/)
  assert.equal(await boundMode(database), 'sandbox')

  await database.execute('update sandbox_clock set offset_ms = 0')
  await database.execute(forget)
  for (const bank of ['alpha', 'beta'])
    await issueCredential({ database }, { partner: { bank }, role: 'ADMIN', label: 'sample' })
  await assert.rejects(bindMode(database, 'live'), /belongs to sandbox mode/)
})

test('when processes of both modes start at once on a new database, only one mode succeeds', async t => {
  const platform = await startPlatform()
  t.after(() => platform.close())
  const { database } = platform.platform
  await database.execute(forget)
  const modes = Array.from({ length: 10 }, (_, index): Mode => (index % 2 ? 'live' : 'sandbox'))
  const outcomes = await Promise.allSettled(modes.map(mode => bindMode(database, mode)))
  const won = await boundMode(database)
  for (const [index, { status }] of outcomes.entries())
    assert.equal(status === 'fulfilled', modes[index] === won, modes[index])
})
