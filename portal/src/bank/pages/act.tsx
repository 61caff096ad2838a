import { getRouteApi } from '@tanstack/react-router'
import { SettlementAct } from '../../campaigns/reconciliation/settlement-act.tsx'
import { reconciliationTexts } from '../../campaigns/reconciliation/texts.ts'
import { useTexts } from '../../i18n/preferences.tsx'
import { useSession } from '../../session/use-session.ts'
import { BackLink } from '../../ui/back-link.tsx'
import { PageHeader } from '../../ui/page-header.tsx'

const route = getRouteApi('/signed-in/bank/campaigns/$cashbackId/act')

/** The settlement act with the merchant. */
export function ActPage() {
  const { act: texts } = useTexts(reconciliationTexts)
  const { cashbackId } = route.useParams()
  const { id } = useSession()
  return (
    <>
      <PageHeader
        back={
          <BackLink to="/bank/campaigns/$cashbackId/reconciliation" params={{ cashbackId }}>
            {texts.back}
          </BackLink>
        }
        title={texts.title}
      />
      <SettlementAct cashbackId={cashbackId} bankId={id ?? ''} />
    </>
  )
}
