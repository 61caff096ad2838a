/** What a bank does with a campaign at the push of a button; each asks first and tells what it has led to. */
import { createElement } from 'react'
import { answer, api } from '../api/client.ts'
import { type Move, useMove } from '../campaigns/use-move.ts'
import { useFormat, useTexts } from '../i18n/preferences.tsx'
import { bankCampaignTexts } from './campaign-texts.ts'
import { ConfirmTerms } from './parts/confirm-terms.tsx'
import { useCampaignChanged } from './queries.ts'
import type { BankCampaign } from './types.ts'

/** Takes part; a campaign of the bank's own starts by it. */
export function useConfirmCampaign(campaign: BankCampaign): Move {
  const texts = useTexts(bankCampaignTexts)
  const changed = useCampaignChanged()
  const { cashbackId, name, createdByType } = campaign
  const terms = (text: string) => createElement(ConfirmTerms, { campaign, text })
  const question =
    createdByType === 'bank'
      ? { title: texts.startTitle(name), text: terms(texts.startText), action: texts.start, done: texts.started }
      : {
          title: texts.confirmTitle(name),
          text: terms(texts.confirmText),
          action: texts.confirm,
          done: texts.confirmed,
        }
  return useMove(
    question,
    () => answer(api.POST('/cashbacks/{cashbackId}/confirm', { params: { path: { cashbackId } }, body: {} })),
    () => changed(cashbackId),
  )
}

/** The money of the merchant has arrived. */
export function useAcknowledge({ cashbackId, expectedCompensation, country }: BankCampaign): Move {
  const { room: texts } = useTexts(bankCampaignTexts)
  const format = useFormat()
  const changed = useCampaignChanged()
  const path = '/portal/cashbacks/{cashbackId}/compensation-received'
  const question = {
    title: texts.acknowledgeTitle,
    text: texts.acknowledgeText(format.money(expectedCompensation ?? 0, country.currency.code)),
    action: texts.acknowledge,
    done: texts.acknowledged,
  }
  return useMove(
    question,
    () => answer(api.POST(path, { params: { path: { cashbackId } }, body: {} })),
    () => changed(cashbackId),
  )
}
