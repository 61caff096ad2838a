import { Outlet } from '@tanstack/react-router'
import { useTexts } from '../../i18n/preferences.tsx'
import { maySeeCampaigns } from '../../session/rights.ts'
import { useSession } from '../../session/use-session.ts'
import { LinkButton } from '../../ui/links.tsx'
import { PageHeader } from '../../ui/page-header.tsx'
import { Empty } from '../../ui/states.tsx'
import { bankTexts } from '../texts.ts'

/** The frame of the campaign pages; viewers see why they have no access, and where they can go instead. */
export function CampaignsArea() {
  const { area, home } = useTexts(bankTexts)
  const session = useSession()
  if (maySeeCampaigns(session)) return <Outlet />
  return (
    <>
      <PageHeader title={area.title} />
      <Empty
        title={home.viewer}
        text={area.text}
        action={
          <LinkButton to="/bank/esim/sales" mt="sm">
            {home.toSales}
          </LinkButton>
        }
      />
    </>
  )
}
