import { Card, Divider, Stack, Text, Title } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import type { ReactNode } from 'react'
import { restOfPercent } from '../../i18n/format.ts'
import { useFormat, usePreferences, useTexts } from '../../i18n/preferences.tsx'
import { type KeyFact, KeyFacts } from '../../ui/key-facts.tsx'
import { Money, none, Percent, Period } from '../../ui/values.tsx'
import classes from '../campaigns.module.css'
import { directoryQuery } from '../queries.ts'
import { campaignTexts } from '../texts.ts'
import type { CampaignOffer } from '../types.ts'

/** Shows the offer and the terms of a campaign. The merchant, its banks and the operator see the same. */
export function CampaignFacts({ campaign }: { campaign: CampaignOffer }) {
  const texts = useTexts(campaignTexts)
  const facts = useFacts(campaign)
  const { description, participationTerms } = campaign
  return (
    <Card component="section">
      <Title order={2} mb="md">
        {texts.offer}
      </Title>
      <KeyFacts facts={facts} columns={3} />
      {(description || participationTerms) && <Divider my="lg" />}
      <Stack gap="md">
        {description && <Passage title={texts.facts.description}>{description}</Passage>}
        {participationTerms && <Passage title={texts.facts.terms}>{participationTerms}</Passage>}
      </Stack>
    </Card>
  )
}

function Passage({ title, children }: { title: string; children: ReactNode }) {
  return (
    <div>
      <Text size="sm" c="dimmed">
        {title}
      </Text>
      <Text className={classes.passage}>{children}</Text>
    </div>
  )
}

function useFacts(campaign: CampaignOffer): KeyFact[] {
  const { facts: texts } = useTexts(campaignTexts)
  const format = useFormat()
  const { timeZone } = usePreferences()
  const paymentSystems = usePaymentSystems(campaign.paymentSystemsId)
  const { minAmount, maxAmount, maxBudget, merchantCompensationPercentage: share } = campaign
  const currency = campaign.country.currency.code
  return [
    { label: texts.cashback, value: <Percent value={campaign.percentage} /> },
    {
      label: texts.period,
      value: <Period dateFrom={campaign.dateFrom} dateTo={campaign.dateTo} />,
      hint: texts.timeZone(timeZone),
    },
    {
      label: texts.receipt,
      value: texts.range(format.money(minAmount, currency), format.money(maxAmount, currency)),
    },
    {
      label: texts.budget,
      value: maxBudget === null ? texts.noBudget : <Money amount={maxBudget} currency={currency} />,
    },
    {
      label: texts.share,
      value: <Percent value={share} />,
      hint: texts.bankShare(format.percent(restOfPercent(share))),
    },
    { label: texts.products, value: <Products campaign={campaign} /> },
    { label: texts.purchases, value: purchasesText(campaign, texts) },
    { label: texts.paymentSystems, value: paymentSystems },
    { label: texts.categoryCodes, value: shortened(campaign.merchantCategoryCode ?? [], texts) || texts.anyCode },
  ]
}

type FactTexts = ReturnType<typeof useTexts<(typeof campaignTexts)['en']>>['facts']

function purchasesText({ purchaseOnline, purchaseOffline }: CampaignOffer, texts: FactTexts): string {
  if (purchaseOnline && purchaseOffline) return texts.onlineAndOffline
  return purchaseOnline ? texts.online : purchaseOffline ? texts.offline : texts.nowhere
}

const maxShown = 6

function shortened(items: readonly string[], texts: FactTexts): string {
  const shown = items.slice(0, maxShown).join(', ')
  return items.length > maxShown ? `${shown} ${texts.more(items.length - maxShown)}` : shown
}

function Products({ campaign: { allProducts, sku, categoryId } }: { campaign: CampaignOffer }) {
  const { facts: texts } = useTexts(campaignTexts)
  if (allProducts) return texts.allProducts
  const counts = [
    sku.length > 0 && texts.skus(sku.length),
    categoryId.length > 0 && texts.categories(categoryId.length),
  ]
  return (
    <>
      {counts.filter(Boolean).join(', ') || none}
      <Text component="div" size="sm" c="dimmed" fw={400}>
        {shortened([...sku, ...categoryId], texts)}
      </Text>
    </>
  )
}

/** The names of the payment systems; their number until the names are loaded. */
function usePaymentSystems(ids: readonly string[]): string {
  const { data } = useQuery(directoryQuery)
  const format = useFormat()
  const names = ids.map(id => data?.paymentSystems.find(system => system.id === id)?.name)
  return names.every(name => name !== undefined) ? format.list(names) : format.number(ids.length)
}
