import { Stack, Text } from '@mantine/core'
import { useTexts } from '../i18n/preferences.tsx'
import { StatusBadge } from '../ui/status-badge.tsx'
import { webhookTexts } from './texts.ts'
import type { Endpoint } from './types.ts'

/** Whether the endpoint is enabled or failing, and why it is disabled. */
export function EndpointStatus({
  endpoint: { status, failingSince, disabledReason },
}: {
  endpoint: Pick<Endpoint, 'status' | 'failingSince' | 'disabledReason'>
}) {
  const texts = useTexts(webhookTexts)
  return (
    <Stack gap={2} align="flex-start">
      <StatusBadge of="endpoint" status={status === 'enabled' && failingSince !== null ? 'failing' : status} />
      {disabledReason && (
        <Text size="sm" c="dimmed">
          {texts.reasons[disabledReason]}
        </Text>
      )}
    </Stack>
  )
}
