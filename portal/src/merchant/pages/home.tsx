import { useTexts } from '../../i18n/preferences.tsx'
import { useSession } from '../../session/use-session.ts'
import { PageHeader } from '../../ui/page-header.tsx'
import { Empty } from '../../ui/states.tsx'
import { merchantTexts } from '../texts.ts'

/** What waits for the person. */
export function HomePage() {
  const texts = useTexts(merchantTexts)
  const session = useSession()
  return (
    <>
      <PageHeader title={texts.home.title(session.name)} lead={texts.home.lead} />
      <Empty title={texts.home.nothing} text={texts.home.nothingText} />
    </>
  )
}
