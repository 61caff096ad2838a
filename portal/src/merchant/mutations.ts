/** The actions of a merchant on a campaign. Each asks for confirmation and reports its result. */
import { useQuery } from '@tanstack/react-query'
import type { ReactNode } from 'react'
import { answer, api, type ifMatch } from '../api/client.ts'
import type { Seen } from '../campaigns/detail/stale.tsx'
import { type Action, type Question, useCampaignAction } from '../campaigns/detail/use-action.ts'
import { segmentQuery } from '../campaigns/queries.ts'
import type { CampaignDetails } from '../campaigns/types.ts'
import { useFormat, useTexts } from '../i18n/preferences.tsx'
import { useNow } from '../session/use-now.ts'
import { campaignPageTexts } from './campaign-texts.ts'
import { useCampaignChanged } from './queries.ts'

type Header = ReturnType<typeof ifMatch>

/** An action of the merchant on the version of a campaign that the person has seen. */
function useMerchantAction(
  seen: Seen,
  question: Question,
  act: (header: Header) => Promise<unknown>,
  isOffered = true,
): Action {
  const changed = useCampaignChanged()
  return useCampaignAction({ seen, question, act, isOffered, onSettled: () => changed(seen.cashbackId) })
}

export function useLaunch(campaign: CampaignDetails): Action {
  const texts = useTexts(campaignPageTexts)
  const format = useFormat()
  const { cashbackId, name, banks, dateFrom } = campaign
  const isDue = Date.parse(dateFrom) <= useNow().getTime()
  const namesOf = (status: string) => banks.filter(bank => bank.status === status).map(bank => bank.name)
  const leftOut = namesOf('pending')
  const text = [
    (isDue ? texts.launchTextNow : texts.launchText)(format.list(namesOf('approved'))),
    useLaunchCustomers(campaign),
    leftOut.length > 0 ? texts.launchLeftOut(format.list(leftOut)) : texts.launchFixed,
  ]
    .filter(Boolean)
    .join(' ')
  const question = { title: texts.launchTitle(name), text, action: texts.launch, done: texts.launched }
  const path = '/cashbacks/for-merchant/{cashbackId}/confirm'
  const act = (header: Header) => answer(api.POST(path, { params: { path: { cashbackId }, header }, body: {} }))
  return useMerchantAction(campaign, question, act, campaign.permissions.confirmAbility)
}

/** A sentence for the confirmation: which customers the campaign is for. It is '' until the segment is loaded. */
function useLaunchCustomers({ cashbackId, permissions }: CampaignDetails): string {
  const { launchCustomers: texts } = useTexts(campaignPageTexts)
  const format = useFormat()
  const { data: segment } = useQuery({ ...segmentQuery(cashbackId), enabled: permissions.confirmAbility })
  if (!segment) return ''
  if (segment.formedAt === null) return texts.all
  return segment.customersCount === 0 ? texts.few : texts.segment(format.number(segment.customersCount))
}

export function useRemove(campaign: CampaignDetails): Action {
  const texts = useTexts(campaignPageTexts)
  const { cashbackId, name } = campaign
  const question = {
    title: texts.removeTitle(name),
    text: texts.removeText,
    action: texts.remove,
    isDangerous: true,
    done: texts.removed,
  }
  const path = '/cashbacks/for-merchant/{cashbackId}'
  const act = (header: Header) => answer(api.DELETE(path, { params: { path: { cashbackId }, header }, body: {} }))
  return useMerchantAction(campaign, question, act, campaign.permissions.deleteAbility)
}

/** @param text says how much each bank gets in the version that the person has seen */
export function usePay(seen: Seen, text: ReactNode): Action {
  const texts = useTexts(campaignPageTexts)
  const { cashbackId } = seen
  const question = { title: texts.payTitle, text, action: texts.pay, done: texts.paid }
  return useMerchantAction(seen, question, header =>
    answer(
      api.POST('/portal/cashbacks/{cashbackId}/compensation-paid', {
        params: { path: { cashbackId }, header },
        body: {},
      }),
    ),
  )
}

/** The campaign in the version that the person has seen, and one of its banks. */
type Part = Seen & { bankId: string; bankName: string }

/**
 * The merchant accepts the bank's report.
 *
 * @param amount the compensation that the merchant owes once the report is accepted, as text
 */
export function useAccept(part: Part, differences: number, amount: string): Action {
  const { cashbackId, bankId, bankName } = part
  const { reconciliationPage: texts } = useTexts(campaignPageTexts)
  const question = {
    title: texts.acceptTitle(bankName),
    text: texts.acceptText(differences, amount),
    action: texts.accept,
    done: texts.accepted,
  }
  const path = '/portal/cashbacks/{cashbackId}/banks/{bankId}/accept-report'
  return useMerchantAction(part, question, header =>
    answer(api.POST(path, { params: { path: { cashbackId, bankId }, header }, body: {} })),
  )
}

/**
 * @param amount the compensation that the merchant owes, as text
 * @param isOffered whether the data that was last read allows this action
 */
export function useSettle(part: Part, amount: string, isOffered: boolean): Action {
  const { cashbackId, bankId, bankName } = part
  const { reconciliationPage: texts } = useTexts(campaignPageTexts)
  const question = {
    title: texts.settleTitle(bankName),
    text: texts.settleText(amount),
    action: texts.settle,
    done: texts.settled,
  }
  const path = '/portal/cashbacks/{cashbackId}/banks/{bankId}/settle'
  const act = (header: Header) => answer(api.POST(path, { params: { path: { cashbackId, bankId }, header }, body: {} }))
  return useMerchantAction(part, question, act, isOffered)
}
