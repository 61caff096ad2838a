/** What a page shows instead of its content while it is loading, empty or failed. Every page uses these. */
import { Alert, Button, Center, List, Skeleton, Stack, Text, ThemeIcon, Title, VisuallyHidden } from '@mantine/core'
import { type Icon, IconAlertTriangle, IconInbox } from '@tabler/icons-react'
import type { UseQueryResult } from '@tanstack/react-query'
import type { ReactNode } from 'react'
import { CancelledError } from '../api/errors.ts'
import { usePreferences, useTexts } from '../i18n/preferences.tsx'
import { errorText } from './error-text.ts'
import { uiTexts } from './texts.ts'

/** Grey lines in place of the content. */
export function Loading({ lines = 6 }: { lines?: number }) {
  const texts = useTexts(uiTexts)
  return (
    <Stack gap="md" role="status" aria-busy="true">
      <VisuallyHidden>{texts.loading}</VisuallyHidden>
      {Array.from({ length: lines }, (_, line) => line).map(line => (
        <Skeleton
          key={line}
          height={line === 0 ? 28 : 18}
          width={line === 0 ? '40%' : `${100 - ((line * 17) % 40)}%`}
        />
      ))}
    </Stack>
  )
}

/** Says that the list is empty or that nothing matches the filters, and what to do next. */
export function Empty(props: { title: string; text?: string; action?: ReactNode; icon?: Icon }) {
  const { title, text, action, icon: Picture = IconInbox } = props
  return (
    <Center py={48} px="md">
      <Stack align="center" gap="xs" maw="46ch" ta="center">
        <ThemeIcon size={56} radius="xl" variant="light" aria-hidden>
          <Picture size={28} stroke={1.5} />
        </ThemeIcon>
        <Title order={2} mt="xs">
          {title}
        </Title>
        {text && <Text c="dimmed">{text}</Text>}
        {action}
      </Stack>
    </Center>
  )
}

/** Shows a failed call, with a button to try again. */
export function Failure({ error, onRetry }: { error: unknown; onRetry?: (() => void) | undefined }) {
  const texts = useTexts(uiTexts)
  const { language } = usePreferences()
  if (error instanceof CancelledError) return null
  const { title, text, details, requestId, isPassing } = errorText(error, texts, language)
  return (
    <Alert color={isPassing ? 'orange' : 'red'} icon={<IconAlertTriangle />} title={title}>
      <Stack gap="sm" align="flex-start">
        <Text size="sm">{text}</Text>
        {details.length > 0 && (
          <List size="sm">
            {details.map(detail => (
              <List.Item key={detail}>{detail}</List.Item>
            ))}
          </List>
        )}
        {requestId && <Text size="sm">{texts.requestId(requestId)}</Text>}
        {onRetry && (
          <Button size="xs" variant="default" onClick={onRetry}>
            {texts.retry}
          </Button>
        )}
      </Stack>
    </Alert>
  )
}

/** Says that a change may have been made although its request failed, and what to do then. */
export function MayBeDone({ error, children }: { error: unknown; children: ReactNode }) {
  const texts = useTexts(uiTexts)
  const { language } = usePreferences()
  const { title, requestId } = errorText(error, texts, language)
  return (
    <Alert color="orange" icon={<IconAlertTriangle />} title={title}>
      <Stack gap="sm" align="flex-start">
        <Text size="sm">{children}</Text>
        {requestId && <Text size="sm">{texts.requestId(requestId)}</Text>}
      </Stack>
    </Alert>
  )
}

/**
 * Shows a query's data, or its loading or error state.
 *
 *     <Loaded query={campaign}>{data => <CampaignFacts campaign={data} />}</Loaded>
 */
export function Loaded<Data>(props: {
  query: Pick<UseQueryResult<Data>, 'data' | 'error' | 'isPending' | 'refetch'>
  loading?: ReactNode
  children: (data: Data) => ReactNode
}) {
  const { query, loading, children } = props
  if (query.data !== undefined) return children(query.data)
  if (query.error) return <Failure error={query.error} onRetry={() => void query.refetch()} />
  return loading ?? <Loading />
}
