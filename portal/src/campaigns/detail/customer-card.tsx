import { Badge, Card, Text, Title } from '@mantine/core'
import { useFormat, useNames, useTexts } from '../../i18n/preferences.tsx'
import { campaignTexts } from '../texts.ts'
import { BannerLink } from './banner-link.tsx'
import classes from './customer-card.module.css'

/** The campaign's fields that customers see; any of them may still be missing while the form is filled in. */
export type ShownCampaign = {
  name: string
  description: string | null
  participationTerms: string | null
  bannerSmall: string | null
  bannerBig: string | null
  percentage: number | null
  /** The instant after the last day. */
  dateTo: string | null
  minAmount: number | null
  maxAmount: number | null
  currency: string | null
  retailer: { name: string; nameEn?: string | null }
}

/** Previews the campaign as the card that customers see in a bank's application. */
export function CustomerCard({ campaign }: { campaign: ShownCampaign }) {
  const { card: texts } = useTexts(campaignTexts)
  const format = useFormat()
  const merchant = useNames().of(campaign.retailer)
  const { name, description, participationTerms, percentage, dateTo, minAmount, maxAmount, currency } = campaign
  const lastMoment = dateTo && new Date(Date.parse(dateTo) - 1)
  const amount = (value: number) => format.money(value, currency)
  return (
    <section aria-label={texts.title}>
      <Text size="sm" c="dimmed" mb="xs">
        {texts.title}
      </Text>
      <Card padding={0} className={classes.card ?? ''}>
        <Banner campaign={campaign} />
        <div className={classes.body}>
          <BannerLink address={campaign.bannerBig || campaign.bannerSmall || ''} />
          {percentage !== null && (
            <Badge className={classes.percent ?? ''}>{texts.back(format.percent(percentage))}</Badge>
          )}
          <Title order={3}>{name.trim() || texts.untitled}</Title>
          <Text size="sm" c="dimmed">
            {[merchant, lastMoment && texts.until(format.date(lastMoment))].filter(Boolean).join(' · ')}
          </Text>
          {description && (
            <Text size="sm" className={classes.text} lineClamp={5}>
              {description}
            </Text>
          )}
          {minAmount !== null && maxAmount !== null && (
            <Text size="sm">{texts.receipts(amount(minAmount), amount(maxAmount))}</Text>
          )}
          {participationTerms && (
            <Text size="xs" c="dimmed" className={classes.text} lineClamp={4}>
              {participationTerms}
            </Text>
          )}
        </div>
      </Card>
    </section>
  )
}

/**
 * The big banner, or else the small one. If there is no banner, or the picture is on another site, shows the merchant's
 * initial.
 */
function Banner({ campaign: { bannerBig, bannerSmall, retailer } }: { campaign: ShownCampaign }) {
  const names = useNames()
  const source = bannerBig || bannerSmall
  return (
    <div className={classes.banner}>
      {source?.startsWith('data:') ? (
        <img src={source} alt="" />
      ) : (
        <span aria-hidden>{names.of(retailer).slice(0, 1)}</span>
      )}
    </div>
  )
}
