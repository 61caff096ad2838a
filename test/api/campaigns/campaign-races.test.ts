/**
 * Partners act on one campaign at the same instant, over two processes. The outcome is always as if one of them came
 * first, never a mixture.
 */
import assert from 'node:assert/strict'
import { after, afterEach, before, describe, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { transitions } from '../../../src/campaigns/lifecycle/transitions.ts'
import { historyOf, openPartners, type Partners } from '../../support/campaign-moves.ts'
import { campaignDirectory, createCampaign, ids, type Partner, partnerAt } from '../../support/campaigns.ts'
import { type Answer, startPlatform, type TestPlatform } from '../../support/platform.ts'
import { race, together } from '../../support/race.ts'

let platform: TestPlatform
let sibling: TestPlatform
let partners: Partners
/** The same merchant as `partners.grocer`, but its requests go to the second process (`sibling`). */
let elsewhere: Partner
before(async () => {
  platform = await startPlatform({}, { directory: campaignDirectory })
  sibling = await platform.sibling()
  partners = await openPartners(platform)
  elsewhere = partnerAt(sibling, partners.grocer.token)
})
after(async () => {
  await sibling.close()
  await platform.close()
})

const pathOf = (id: string): string => `/cashbacks/for-merchant/${id}`
const read = async (id: string): Promise<Answer> => partners.grocer.call('GET', pathOf(id))
const edit = (id: string, body: unknown, headers: Record<string, string> = {}) =>
  elsewhere.call('PATCH', pathOf(id), { body, headers })
const confirm = (bank: Partner, id: string) => bank.call('POST', `/cashbacks/${id}/confirm`)
const launch = (id: string) => partners.grocer.call('POST', `${pathOf(id)}/confirm`)
const remove = (id: string) => elsewhere.call('DELETE', pathOf(id))
const both = { participantsIds: [ids.alpha, ids.beta] }

const made: string[] = []
const make = async (overrides: Record<string, unknown> = {}): Promise<string> => {
  const id = await createCampaign(platform, overrides, partners.grocer)
  made.push(id)
  return id
}

/**
 * Asserts that every transition in the history is in the lifecycle's table, and that each starts where the previous one
 * ended.
 */
afterEach(async () => {
  for (const id of made.splice(0)) {
    const states = new Map<string, string | null>()
    for (const { subject, bankId, trigger, from, to } of await historyOf(partners, id)) {
      const isEdit = trigger === 'edit' && from === to
      const known =
        isEdit ||
        transitions.some(
          move => move.subject === subject && move.trigger === trigger && move.from === from && move.to === to,
        )
      assert.ok(known, `${subject} ${from} -> ${to} by ${trigger}`)
      const whose = `${subject} ${bankId}`
      assert.equal(states.get(whose) ?? null, from)
      states.set(whose, to)
    }
    const { status, banks } = (await read(id)).body
    assert.equal(states.get('campaign null'), status)
    for (const bank of banks) assert.equal(states.get(`bank ${bank.id}`), bank.status)
    if (status === 'approved') {
      assert.ok(
        banks.some((bank: any) => bank.status === 'approved'),
        'a launched campaign has an approved bank',
      )
      assert.ok(
        banks.every((bank: any) => bank.status !== 'pending'),
        'and no pending one',
      )
    }
  }
})

const waitingStatement = `select count(*)::int as count from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`

const codes = (...answers: Answer[]): string => answers.map(({ status }) => status).join(' ')

describe('an edit', () => {
  test('against a bank’s confirmation: the bank agrees to what it sees, or the edit is refused', async () => {
    await race(['edit first', 'confirm first'], async lead => {
      const id = await make({ percentage: 5 })
      const [edited, confirmed] = await together(
        lead,
        () => edit(id, { percentage: 1 }),
        () => confirm(partners.alpha, id),
      )
      assert.equal(confirmed.status, 201, confirmed.text)
      const { percentage } = (await read(id)).body
      if (edited.status === 200) {
        assert.equal(percentage, 1)
        return 'edit first'
      }
      assert.deepEqual(edited.body.message, ['percentage must be unchanged: a bank has approved the campaign'])
      assert.equal(percentage, 5)
      return 'confirm first'
    })
  })

  test('against another with the same ETag: exactly one is applied, whole', async () => {
    await race(['200 412', '412 200'], async lead => {
      const id = await make()
      const header = { 'if-match': (await read(id)).headers.get('etag') ?? '' }
      const bodies = [
        { name: 'one', description: 'one' },
        { name: 'two', description: 'two' },
      ] as const
      const [one, two] = await together(
        lead,
        () => edit(id, bodies[0], header),
        () => partners.grocer.call('PATCH', pathOf(id), { body: bodies[1], headers: header }),
      )
      const { name, description } = (await read(id)).body
      assert.deepEqual({ name, description }, bodies[one.status === 200 ? 0 : 1])
      return codes(one, two)
    })
  })

  test('against a later one: it answers with its own version and the ETag of that version', async () => {
    const id = await make()
    const { database } = platform.platform
    const waiting = async (): Promise<number> => {
      const [row] = await database.query<{ count: number }>(waitingStatement)
      return row?.count ?? 0
    }
    const until = async (count: number) => {
      while ((await waiting()) < count) await sleep(10)
    }
    const edits: Promise<Answer>[] = []
    await database.transaction(async holder => {
      // Only the read of the details needs this table. So both edits come as far as they can before the first answer.
      await holder.execute('lock table merchant_terminal_lists in access exclusive mode')
      edits.push(edit(id, { name: 'first' }))
      await until(1)
      edits.push(edit(id, { name: 'second' }))
      await until(2)
    })
    const [first, second] = (await Promise.all(edits)) as [Answer, Answer]
    assert.deepEqual([first.status, second.status], [200, 200])
    assert.deepEqual([first.body.name, second.body.name], ['first', 'second'])
    assert.notEqual(first.headers.get('etag'), second.headers.get('etag'))
    assert.equal(second.headers.get('etag'), (await read(id)).headers.get('etag'))
  })

  test('against the launch: what was approved is launched', async () => {
    await race(['200 201', '400 201'], async lead => {
      const id = await make(both)
      await confirm(partners.alpha, id)
      const [edited, launched] = await together(
        lead,
        () => edit(id, { participantsIds: [ids.alpha, ids.beta, ids.gamma] }),
        () => launch(id),
      )
      const { banks } = (await read(id)).body
      assert.equal(banks.length, edited.status === 200 ? 3 : 2)
      return codes(edited, launched)
    })
  })

  test('that removes a bank, against that bank’s confirmation', async () => {
    await race(['200 400', '400 201'], async lead => {
      const id = await make(both)
      const [edited, confirmed] = await together(
        lead,
        () => edit(id, { participantsIds: [ids.beta] }),
        () => confirm(partners.alpha, id),
      )
      return codes(edited, confirmed)
    })
  })

  test('twenty without If-Match: each is applied whole, one after the other', async () => {
    const id = await make()
    const version = async () => Number((await read(id)).headers.get('etag')?.replaceAll('"', ''))
    const before = await version()
    const answers = await Promise.all(
      Array.from({ length: 20 }, (_, index) =>
        (index % 2 ? elsewhere : partners.grocer).call('PATCH', pathOf(id), {
          body: { name: `n${index}`, description: `n${index}` },
        }),
      ),
    )
    assert.ok(answers.every(({ status }) => status === 200))
    const { name, description } = (await read(id)).body
    assert.equal(name, description)
    assert.equal(await version(), before + 20)
  })

  test('of terminals, against another: adding never loses what the other has added', async () => {
    await race(['200 400', '400 200'], async lead => {
      const id = await make({ terminalsPlatform: false, terminals: [{ terminal_id: '1' }] })
      await confirm(partners.alpha, id)
      const add = (terminal_id: string) => edit(id, { terminals: [{ terminal_id: '1' }, { terminal_id }] })
      return codes(
        ...(await together(
          lead,
          () => add('2'),
          () => add('3'),
        )),
      )
    })
  })
})

describe('a deletion', () => {
  test('against the launch: the campaign is deleted in the end', async () => {
    await race(['200 201', '200 400'], async lead => {
      const id = await make()
      await confirm(partners.alpha, id)
      const [removed, launched] = await together(
        lead,
        () => remove(id),
        () => launch(id),
      )
      assert.equal((await read(id)).body.status, 'deleted')
      return codes(removed, launched)
    })
  })

  test('against a bank’s confirmation', async () => {
    await race(['200 201', '200 400'], async lead => {
      const id = await make()
      const [removed, confirmed] = await together(
        lead,
        () => remove(id),
        () => confirm(partners.alpha, id),
      )
      assert.equal((await read(id)).body.status, 'deleted')
      return codes(removed, confirmed)
    })
  })

  test('ten at once: one history entry, one answer', async () => {
    const id = await make()
    const answers = await Promise.all(Array.from({ length: 10 }, () => remove(id)))
    assert.equal(new Set(answers.map(({ status, text }) => `${status} ${text}`)).size, 1)
    assert.equal((await historyOf(partners, id)).filter(({ trigger }) => trigger === 'delete').length, 1)
  })
})

describe('a launch', () => {
  test('ten at once: one goes through', async () => {
    const id = await make(both)
    await confirm(partners.alpha, id)
    const answers = await Promise.all(Array.from({ length: 10 }, () => launch(id)))
    assert.deepEqual(answers.map(({ status }) => status).sort(), [201, ...Array(9).fill(400)])
  })

  test('against the confirmation of the last bank: it takes part or is left out', async () => {
    await race(['201 approved', '400 expired'], async lead => {
      const id = await make(both)
      await confirm(partners.alpha, id)
      const [launched, confirmed] = await together(
        lead,
        () => launch(id),
        () => confirm(partners.beta, id),
      )
      assert.equal(launched.status, 201, launched.text)
      const { banks } = (await read(id)).body
      return `${confirmed.status} ${banks.find((bank: any) => bank.id === ids.beta).status}`
    })
  })

  test('against the first confirmation: with a bank, or not at all', async () => {
    await race(['201 201', '400 201'], async lead => {
      const id = await make()
      return codes(
        ...(await together(
          lead,
          () => launch(id),
          () => confirm(partners.alpha, id),
        )),
      )
    })
  })
})
