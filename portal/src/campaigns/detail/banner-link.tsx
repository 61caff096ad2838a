import { Anchor } from '@mantine/core'
import { useTexts } from '../../i18n/preferences.tsx'
import { campaignTexts } from '../texts.ts'

/**
 * A link that opens the banner. The page does not load pictures from other sites by itself, because their server would
 * learn who looks at the campaign, and when.
 */
export function BannerLink({ address }: { address: string }) {
  const texts = useTexts(campaignTexts).card
  if (!/^https?:\/\/.+\..+/i.test(address)) return null
  return (
    <Anchor href={address} target="_blank" rel="noreferrer" size="sm">
      {texts.openBanner}
    </Anchor>
  )
}
