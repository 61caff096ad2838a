/** The actions of a bank on a campaign. Each asks for confirmation and reports its result. */
import { createElement } from 'react'
import { answer, api } from '../api/client.ts'
import type { Seen } from '../campaigns/detail/stale.tsx'
import { type Action, useCampaignAction } from '../campaigns/detail/use-action.ts'
import { useFormat, useTexts } from '../i18n/preferences.tsx'
import { useNow } from '../session/use-now.ts'
import { useSession } from '../session/use-session.ts'
import { bankCampaignTexts } from './campaign-texts.ts'
import { ConfirmTerms } from './components/confirm-terms.tsx'
import { useCampaignChanged } from './queries.ts'
import type { BankCampaign } from './types.ts'

/**
 * The version of the campaign that the person sees. It contains only one of the campaign's banks: the person's own
 * bank.
 */
export function useSeen({ cashbackId, etag, updatedAt }: BankCampaign): Seen {
  const { id, name } = useSession()
  return { cashbackId, etag, updatedAt, banks: [{ id: id ?? '', name }] }
}

/** Confirms that the bank takes part. A campaign that the bank itself has created is then approved. */
export function useConfirmCampaign(campaign: BankCampaign): Action {
  const texts = useTexts(bankCampaignTexts)
  const changed = useCampaignChanged()
  const { cashbackId, name, createdByType, dateFrom } = campaign
  const isDue = Date.parse(dateFrom) <= useNow().getTime()
  const terms = (text: string) => createElement(ConfirmTerms, { campaign, text })
  const question =
    createdByType === 'bank'
      ? {
          title: texts.startTitle(name),
          text: terms(isDue ? texts.startTextNow : texts.startText),
          action: texts.start,
          done: texts.started,
        }
      : {
          title: texts.confirmTitle(name),
          text: terms(texts.confirmText),
          action: texts.confirm,
          done: texts.confirmed,
        }
  return useCampaignAction({
    seen: useSeen(campaign),
    question,
    act: header =>
      answer(api.POST('/cashbacks/{cashbackId}/confirm', { params: { path: { cashbackId }, header }, body: {} })),
    isOffered: campaign.permissions.confirmAbility,
    onSettled: () => changed(cashbackId),
  })
}

/** Confirms that the merchant's payment has arrived. */
export function useAcknowledge(campaign: BankCampaign): Action {
  const { cashbackId, expectedCompensation, country } = campaign
  const { reconciliationPage: texts } = useTexts(bankCampaignTexts)
  const format = useFormat()
  const changed = useCampaignChanged()
  const path = '/portal/cashbacks/{cashbackId}/compensation-received'
  const question = {
    title: texts.acknowledgeTitle,
    text: texts.acknowledgeText(format.money(expectedCompensation ?? 0, country.currency.code)),
    action: texts.acknowledge,
    done: texts.acknowledged,
  }
  return useCampaignAction({
    seen: useSeen(campaign),
    question,
    act: header => answer(api.POST(path, { params: { path: { cashbackId }, header }, body: {} })),
    onSettled: () => changed(cashbackId),
  })
}
