/** Helpers for tests of edits: a campaign in each state, and a check that a refused edit changes nothing. */
import assert from 'node:assert/strict'
import { launchCampaign, moveClock, type Partners } from './campaign-moves.ts'
import { createCampaign, ids, inDays, type Partner } from './campaigns.ts'
import type { Answer, TestPlatform } from './platform.ts'

export const pathOf = (id: string): string => `/cashbacks/for-merchant/${id}`
export const terminals = (...names: string[]) => names.map(terminal_id => ({ terminal_id }))
export const own = { terminalsPlatform: false, terminals: terminals('1', '2') }

export async function decide(bank: Partner, id: string, decision: 'confirm' | 'reject' = 'confirm'): Promise<void> {
  const answer = await bank.call('POST', `/cashbacks/${id}/${decision}`)
  assert.equal(answer.status, 201, answer.text)
}

export function assertEdited(answer: Answer): Record<string, any> {
  assert.equal(answer.status, 200, answer.text)
  return answer.body
}

type Stage = { platform: TestPlatform; partners: Partners }

/** @param stage returns the platform and its partners, which exist only after the hook `before`: call it inside a test */
export function editsOf(stage: () => Stage) {
  const edit = (id: string, body: unknown, headers: Record<string, string> = {}): Promise<Answer> =>
    stage().partners.grocer.call('PATCH', pathOf(id), { body, headers })
  const read = async (id: string): Promise<Answer> => {
    const answer = await stage().partners.grocer.call('GET', pathOf(id))
    assert.equal(answer.status, 200, answer.text)
    return answer
  }
  /** Asserts that a refused edit has changed nothing. */
  const assertNothingChanged = async (id: string, before: Answer): Promise<void> => {
    const now = await read(id)
    assert.deepEqual(now.body, before.body)
    assert.equal(now.headers.get('etag'), before.headers.get('etag'))
  }
  return { edit, read, assertNothingChanged, states: statesOf(stage) }
}

type State = { make(overrides?: Record<string, unknown>): Promise<string>; why: string }

/** For each state: makes a campaign in it. `why` is the reason that a refused change of a field gives. */
function statesOf(stage: () => Stage): Record<string, State> {
  const createFor = (overrides: Record<string, unknown> = {}) =>
    createCampaign(stage().platform, { participantsIds: [ids.alpha, ids.beta], ...own, ...overrides })
  return {
    'a bank has approved': {
      make: async overrides => {
        const id = await createFor(overrides)
        await decide(stage().partners.alpha, id)
        return id
      },
      why: 'a bank has approved the campaign',
    },
    awaitingMerchantApproval: {
      make: async overrides => {
        const id = await createFor(overrides)
        await decide(stage().partners.alpha, id)
        await decide(stage().partners.beta, id, 'reject')
        return id
      },
      why: 'a bank has approved the campaign',
    },
    approved: {
      make: overrides => launchCampaign(stage().platform, stage().partners, { ...own, ...overrides }),
      why: 'the campaign is approved',
    },
    active: {
      make: async overrides => {
        const { platform, partners } = stage()
        const id = await launchCampaign(platform, partners, { dateFrom: inDays(platform, -1), ...own, ...overrides })
        await moveClock(platform, { advance: 'PT1S' })
        return id
      },
      why: 'the campaign is active',
    },
    deleted: {
      make: async overrides => {
        const id = await createCampaign(stage().platform, { ...own, ...overrides })
        await stage().partners.grocer.call('DELETE', pathOf(id))
        return id
      },
      why: 'the campaign is deleted',
    },
  }
}
