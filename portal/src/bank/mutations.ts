/** What a bank does with a campaign at the push of a button; each asks first and tells what it has led to. */
import { createElement } from 'react'
import { answer, api } from '../api/client.ts'
import type { Seen } from '../campaigns/detail/stale.tsx'
import { type Move, useCampaignMove } from '../campaigns/detail/use-transition.ts'
import { useFormat, useTexts } from '../i18n/preferences.tsx'
import { useSession } from '../session/use-session.ts'
import { bankCampaignTexts } from './campaign-texts.ts'
import { ConfirmTerms } from './components/confirm-terms.tsx'
import { useCampaignChanged } from './queries.ts'
import type { BankCampaign } from './types.ts'

/** What the bank's people look at; of all banks they know their own. */
export function useSeen({ cashbackId, etag, updatedAt }: BankCampaign): Seen {
  const { id, name } = useSession()
  return { cashbackId, etag, updatedAt, banks: [{ id: id ?? '', name }] }
}

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
  return useCampaignMove({
    seen: useSeen(campaign),
    question,
    act: header =>
      answer(api.POST('/cashbacks/{cashbackId}/confirm', { params: { path: { cashbackId }, header }, body: {} })),
    onSettled: () => changed(cashbackId),
  })
}

/** The money of the merchant has arrived. */
export function useAcknowledge(campaign: BankCampaign): Move {
  const { cashbackId, expectedCompensation, country } = campaign
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
  return useCampaignMove({
    seen: useSeen(campaign),
    question,
    act: header => answer(api.POST(path, { params: { path: { cashbackId }, header }, body: {} })),
    onSettled: () => changed(cashbackId),
  })
}
