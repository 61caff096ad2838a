import { Button } from '@mantine/core'
import { IconFilterOff } from '@tabler/icons-react'
import { useLocation, useNavigate } from '@tanstack/react-router'
import { isApiError } from '../../api/errors.ts'
import { useTexts } from '../../i18n/preferences.tsx'
import { Empty, Failure } from '../states.tsx'
import { uiTexts } from '../texts.ts'

/**
 * Shown when a list could not be loaded. The platform may not know a filter in the address, for example from a link of
 * another version. Then retrying does not help, so the page offers to clear the filters.
 */
export function NotRead({ error, onRetry }: { error: unknown; onRetry: () => void }) {
  const { filters: texts } = useTexts(uiTexts)
  const navigate = useNavigate()
  const { tab, ...filters } = useLocation({ select: ({ search }) => search as Record<string, unknown> })
  const isFiltered = Object.values(filters).some(value => value !== undefined)
  if (!isFiltered || !isApiError(error, 400, 404)) return <Failure error={error} onRetry={onRetry} />
  const clear = () => void navigate({ to: '.', search: { tab } as never, replace: true })
  return (
    <Empty
      icon={IconFilterOff}
      title={texts.refused}
      text={texts.refusedText}
      action={
        <Button variant="default" onClick={clear}>
          {texts.clear}
        </Button>
      }
    />
  )
}
