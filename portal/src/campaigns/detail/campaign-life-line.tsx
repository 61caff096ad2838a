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
  const isPast = (instant: string) => Date.parse(instant) <= now.getTime()
  /** @param isReached whether the campaign has reached the state: one that was not launched has not started */
  const noteOf = (status: CampaignStatus, isReached: boolean): string | null => {
    const { dateFrom, dateTo } = campaign
    if (status === 'active') return texts.starts(format.date(dateFrom), isReached && isPast(dateFrom))
    if (status === 'awaitingCompensationConfirmation')
      return texts.ends(format.lastDay(dateTo), isReached && isPast(dateTo))
    return null
  }
  const steps = stagesOf(campaign.status).map(({ status, state }) => ({
    key: status,
    label: names[status],
    note: noteOf(status, state !== 'next'),
    state,
  }))
  return <LifeLine label={texts.life} steps={steps} today={todayOf(campaign, now)} />
}
