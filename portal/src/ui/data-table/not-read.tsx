import { Button } from '@mantine/core'
import { IconFilterOff } from '@tabler/icons-react'
import { useLocation, useNavigate } from '@tanstack/react-router'
import { isApiError } from '../../api/errors.ts'
import { useTexts } from '../../i18n/preferences.tsx'
import { Empty, Failure } from '../states.tsx'
import { uiTexts } from '../texts.ts'

/**
 * A list that could not be read. The platform may know a filter of the address no more, as in a link of another version: then it is the
 * filters that have to go, and trying again does not help.
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
