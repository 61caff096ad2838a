import { Card, Group, Text, ThemeIcon } from '@mantine/core'
import { IconPlugConnectedX } from '@tabler/icons-react'
import { useEffect, useRef } from 'react'
import { useFormat, useTexts } from '../i18n/preferences.tsx'
import { useNotify } from '../ui/notify.tsx'
import { useLostSince } from './connection.ts'
import classes from './layout.module.css'
import { appTexts } from './texts.ts'

/** Shows above every page that the connection is lost, and shows a short notice when it is back. */
export function ConnectionNotice() {
  const { connection: texts } = useTexts(appTexts)
  const format = useFormat()
  const notify = useNotify()
  const since = useLostSince()
  const wasLost = useRef(false)
  useEffect(() => {
    if (wasLost.current && since === null) notify.done(texts.back, 'connection')
    wasLost.current = since !== null
  }, [since, notify, texts])
  return (
    <div role="status" className={classes.connection}>
      {since !== null && (
        <Card padding="md" shadow="md">
          <Group gap="md" wrap="nowrap" align="flex-start">
            <ThemeIcon color="orange" variant="light" size="lg" radius="xl" aria-hidden>
              <IconPlugConnectedX size={20} />
            </ThemeIcon>
            <div>
              <Text fw={650}>{texts.lost}</Text>
              <Text size="sm">{texts.lostText(format.time(new Date(since)))}</Text>
            </div>
          </Group>
        </Card>
      )}
    </div>
  )
}
