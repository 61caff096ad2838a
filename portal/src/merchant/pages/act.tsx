import { getRouteApi } from '@tanstack/react-router'
import { SettlementAct } from '../../campaigns/reconciliation/settlement-act.tsx'
import { reconciliationTexts } from '../../campaigns/reconciliation/texts.ts'
import { useTexts } from '../../i18n/preferences.tsx'
import { BackLink } from '../../ui/back-link.tsx'
import { PageHeader } from '../../ui/page-header.tsx'

const route = getRouteApi('/signed-in/merchant/campaigns/$cashbackId/banks/$bankId/act')

/** The settlement act with one bank. */
export function ActPage() {
  const { act: texts } = useTexts(reconciliationTexts)
  const params = route.useParams()
  return (
    <>
      <PageHeader
        back={
          <BackLink to="/merchant/campaigns/$cashbackId/banks/$bankId" params={params}>
            {texts.back}
          </BackLink>
        }
        title={texts.title}
      />
      <SettlementAct {...params} />
    </>
  )
}
