import { useFormat, useTexts } from '../../i18n/preferences.tsx'
import { useNow } from '../../session/use-now.ts'
import { LifeLine } from '../../ui/life-line.tsx'
import { statusTexts } from '../../ui/status-texts.ts'
import { campaignTexts } from '../texts.ts'
import { type CampaignInLife, type CampaignStatus, stagesOf, todayOf } from './life.ts'

/** The states of a campaign as a line, with its current position. */
export function CampaignLifeLine({ campaign }: { campaign: CampaignInLife }) {
  const texts = useTexts(campaignTexts)
  const names = useTexts(statusTexts).campaign
  const format = useFormat()
  const now = useNow()
  const notes: Partial<Record<CampaignStatus, string>> = {
    active: texts.starts(format.date(campaign.dateFrom), Date.parse(campaign.dateFrom) <= now.getTime()),
    awaitingCompensationConfirmation: texts.ends(
      format.lastDay(campaign.dateTo),
      Date.parse(campaign.dateTo) <= now.getTime(),
    ),
  }
  const steps = stagesOf(campaign.status).map(({ status, state }) => ({
    key: status,
    label: names[status],
    note: notes[status] ?? null,
    state,
  }))
  return <LifeLine label={texts.life} steps={steps} today={todayOf(campaign, now)} />
}
