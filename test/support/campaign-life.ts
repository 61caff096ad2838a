/** Campaigns in the form that the pure rules of `campaigns/lifecycle/lifecycle.ts` take, for tests of these rules. */
import type { BankState, CampaignState, Decision } from '../../src/campaigns/lifecycle/lifecycle.ts'
import type { BankStatus, CampaignStatus, ReportingStage } from '../../src/campaigns/lifecycle/transitions.ts'
import { DomainError } from '../../src/errors.ts'

export const dateFrom = new Date('2027-03-01T00:00:00.000Z')
export const dateTo = new Date('2027-04-01T00:00:00.000Z')
export const longBefore = new Date('2027-02-01T00:00:00.000Z')
export const during = new Date('2027-03-15T00:00:00.000Z')

export type LivingCampaign = CampaignState & { compensationReceivedAt: Date | null }

/** Makes a campaign. The tests check what happens to bank `a`; `b` is another bank. */
export function campaign(given: {
  status: CampaignStatus
  a?: BankStatus
  b?: BankStatus | null
  stageOfA?: ReportingStage | null
  stageOfB?: ReportingStage | null
  by?: 'merchant' | 'bank'
  merchantPays?: boolean
  compensationReceivedAt?: Date | null
}): LivingCampaign {
  const { a = 'pending', b = null, stageOfA = null, stageOfB = null } = given
  const banks: BankState[] = [{ bankId: 'a', status: a, stage: stageOfA }]
  if (b !== null) banks.push({ bankId: 'b', status: b, stage: stageOfB })
  return {
    cashbackId: 'campaign',
    merchantId: 'merchant',
    createdByBankId: given.by === 'bank' ? 'a' : null,
    status: given.status,
    dateFrom,
    dateTo,
    merchantPays: given.merchantPays ?? true,
    banks,
    compensationReceivedAt: given.compensationReceivedAt ?? null,
  }
}

export function bankA({ banks }: CampaignState): BankState {
  const [bank] = banks
  if (!bank) throw new Error('The campaign has no bank')
  return bank
}

/** The campaign after a decision. */
export function after<Campaign extends CampaignState>(before: Campaign, { changes }: Decision, now: Date): Campaign {
  let { status } = before
  let banks = [...before.banks]
  for (const change of changes) {
    const of = (bankId: string) => ({ ...banks.find(bank => bank.bankId === bankId), bankId }) as BankState
    const put = (bank: BankState) => {
      banks = [...banks.filter(({ bankId }) => bankId !== bank.bankId), bank]
    }
    if (change.subject === 'campaign') status = change.to
    else if (change.subject === 'reporting') put({ ...of(change.bankId), stage: change.to })
    else if (change.to === null) banks = banks.filter(({ bankId }) => bankId !== change.bankId)
    else if (change.from === null) put({ bankId: change.bankId, status: change.to, stage: null })
    else put({ ...of(change.bankId), status: change.to })
  }
  const isReceived = status === 'compensationReceived' && before.status !== status
  return { ...before, status, banks, ...(isReceived && { compensationReceivedAt: now }) }
}

/**
 * What a decision changes: the status of the campaign, the status of bank `a`, and the stage of bank `a`. `same` means
 * unchanged, `gone` means that bank `a` was removed. If the decision is not allowed, all three are `refused`. If it was
 * made before and changes nothing, they are `repeat`. If `decide` returns null, they are `nothing`.
 */
export function outcomeOf(
  before: CampaignState,
  decide: () => Decision | null,
): { campaign: string; bank: string; stage: string } {
  const all = (word: string) => ({ campaign: word, bank: word, stage: word })
  try {
    const decision = decide()
    if (decision === null) return all('nothing')
    if (decision.changes.length === 0) return all('repeat')
    const { status, banks } = after(before, decision, dateTo)
    const a = banks.find(({ bankId }) => bankId === 'a')
    return {
      campaign: status === before.status ? 'same' : status,
      bank: a === undefined ? 'gone' : a.status === bankA(before).status ? 'same' : a.status,
      stage: a === undefined || a.stage === bankA(before).stage ? 'same' : String(a.stage),
    }
  } catch (error) {
    if (error instanceof DomainError && ['campaign-state', 'no-bank-approved'].includes(error.code))
      return all('refused')
    throw error
  }
}
