import { Alert, Button, Group, List, Stack, Text } from '@mantine/core'
import { IconUsers } from '@tabler/icons-react'
import { useEffect, useRef } from 'react'
import { ChangesSince } from '../../campaigns/detail/stale.tsx'
import { type CampaignValues, changedValues, valuesOf } from '../../campaigns/form/values.ts'
import { useFormat, usePreferences, useTexts } from '../../i18n/preferences.tsx'
import { LinkButton } from '../../ui/links.tsx'
import { editTexts } from '../edit-texts.ts'
import type { ReadCampaign } from '../queries.ts'
import { openChanges } from './open-changes.ts'

type Props = {
  base: ReadCampaign
  newer: ReadCampaign
  mine: Partial<CampaignValues>
  onGoOn: () => void
  onDiscard: () => void
}

/**
 * Shown when somebody else, or the same person in another tab, has saved first (412). It lists the fields that the other save
 * changed, and lets the person continue or stop. After a deletion the person can only stop.
 */
export function StaleNotice({ base, newer, mine, onGoOn, onDiscard }: Props) {
  const texts = useTexts(editTexts)
  const format = useFormat()
  const { timeZone } = usePreferences()
  const notice = useRef<HTMLDivElement>(null)
  useEffect(() => notice.current?.focus(), [])
  const theirs = changedValues(valuesOf(base, timeZone), valuesOf(newer, timeZone))
  const namesOf = (fields: readonly string[]) => {
    const names: Record<string, string> = texts.fields
    return format.list([...new Set(fields.map(field => names[field] ?? field))])
  }
  const changed = Object.keys(theirs)
  const { open, locked, kept } = openChanges(newer, mine)
  const isDeleted = newer.status === 'deleted'
  const both = changed.filter(field => field in open)
  return (
    <Alert
      ref={notice}
      tabIndex={-1}
      color="orange"
      icon={<IconUsers />}
      title={isDeleted ? texts.deletedTitle : texts.staleTitle}
      role="alert"
      data-stale-notice
    >
      <Stack gap="sm">
        <Text size="sm">{isDeleted ? texts.deletedText : texts.staleText}</Text>
        {!isDeleted && (
          <List size="sm">
            <List.Item>{changed.length > 0 ? texts.staleFields(namesOf(changed)) : texts.staleNothing}</List.Item>
            {both.length > 0 && <List.Item>{texts.conflict(namesOf(both))}</List.Item>}
            {locked.length > 0 && <List.Item>{texts.locked(namesOf(locked))}</List.Item>}
            {kept.length > 0 && <List.Item>{texts.keptBanks(format.list(kept))}</List.Item>}
          </List>
        )}
        <ChangesSince seen={{ ...base, banks: newer.banks }} />
        <Group gap="sm">
          {!isDeleted && (
            <Button size="xs" onClick={onGoOn}>
              {texts.goOn}
            </Button>
          )}
          <LinkButton
            to="/merchant/campaigns/$cashbackId"
            params={{ cashbackId: base.cashbackId }}
            target="_blank"
            size="xs"
            variant="default"
          >
            {texts.see}
          </LinkButton>
          <Button size="xs" variant="subtle" color="red" onClick={onDiscard}>
            {texts.discard}
          </Button>
        </Group>
      </Stack>
    </Alert>
  )
}
