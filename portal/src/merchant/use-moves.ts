/** What a merchant does with a campaign at the push of a button; each asks first and tells what it has led to. */
import type { ReactNode } from 'react'
import { answer, api } from '../api/client.ts'
import type { CampaignDetails } from '../campaigns/types.ts'
import { type Move, type Question, useMove as useAnyMove } from '../campaigns/use-move.ts'
import { useFormat, useTexts } from '../i18n/preferences.tsx'
import { campaignPageTexts } from './campaign-texts.ts'
import { useCampaignChanged } from './queries.ts'

/** A move of the merchant. */
function useMove(cashbackId: string, question: Question, act: () => Promise<unknown>): Move {
  const changed = useCampaignChanged()
  return useAnyMove(question, act, () => changed(cashbackId))
}

export function useLaunch(campaign: CampaignDetails): Move {
  const texts = useTexts(campaignPageTexts)
  const format = useFormat()
  const { cashbackId, name, banks } = campaign
  const namesOf = (status: string) => banks.filter(bank => bank.status === status).map(bank => bank.name)
  const leftOut = namesOf('pending')
  const text = [
    texts.launchText(format.list(namesOf('approved'))),
    leftOut.length > 0 ? texts.launchLeftOut(format.list(leftOut)) : texts.launchFixed,
  ].join(' ')
  const question = { title: texts.launchTitle(name), text, action: texts.launch, done: texts.launched }
  return useMove(cashbackId, question, () =>
    answer(api.POST('/cashbacks/for-merchant/{cashbackId}/confirm', { params: { path: { cashbackId } }, body: {} })),
  )
}

export function useRemove({ cashbackId, name }: CampaignDetails): Move {
  const texts = useTexts(campaignPageTexts)
  const question = {
    title: texts.removeTitle(name),
    text: texts.removeText,
    action: texts.remove,
    isDangerous: true,
    done: texts.removed,
  }
  return useMove(cashbackId, question, () =>
    answer(api.DELETE('/cashbacks/for-merchant/{cashbackId}', { params: { path: { cashbackId } }, body: {} })),
  )
}

/** @param text says how much goes to whom */
export function usePay({ cashbackId }: Pick<CampaignDetails, 'cashbackId'>, text: ReactNode): Move {
  const texts = useTexts(campaignPageTexts)
  const question = { title: texts.payTitle, text, action: texts.pay, done: texts.paid }
  return useMove(cashbackId, question, () =>
    answer(
      api.POST('/portal/cashbacks/{cashbackId}/compensation-paid', { params: { path: { cashbackId } }, body: {} }),
    ),
  )
}

type Part = { cashbackId: string; bankId: string; bankName: string }

/** @param amount what the merchant then has to compensate, in words */
export function useAccept({ cashbackId, bankId, bankName }: Part, differences: number, amount: string): Move {
  const { room: texts } = useTexts(campaignPageTexts)
  const question = {
    title: texts.acceptTitle(bankName),
    text: texts.acceptText(differences, amount),
    action: texts.accept,
    done: texts.accepted,
  }
  const path = '/portal/cashbacks/{cashbackId}/banks/{bankId}/accept-report'
  return useMove(cashbackId, question, () =>
    answer(api.POST(path, { params: { path: { cashbackId, bankId } }, body: {} })),
  )
}

/** @param amount what the merchant is to compensate, in words */
export function useSettle({ cashbackId, bankId, bankName }: Part, amount: string): Move {
  const { room: texts } = useTexts(campaignPageTexts)
  const question = {
    title: texts.settleTitle(bankName),
    text: texts.settleText(amount),
    action: texts.settle,
    done: texts.settled,
  }
  const path = '/portal/cashbacks/{cashbackId}/banks/{bankId}/settle'
  return useMove(cashbackId, question, () =>
    answer(api.POST(path, { params: { path: { cashbackId, bankId } }, body: {} })),
  )
}
