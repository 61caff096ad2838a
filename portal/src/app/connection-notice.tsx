import { Alert } from '@mantine/core'
import { IconPlugConnectedX } from '@tabler/icons-react'
import { useEffect, useRef } from 'react'
import { useFormat, useTexts } from '../i18n/preferences.tsx'
import { useNotify } from '../ui/notify.tsx'
import { useLostSince } from './connection.ts'
import classes from './layout.module.css'
import { appTexts } from './texts.ts'

/** Says above every page that the connection is gone, and once that it is back. */
export function ConnectionNotice() {
  const { connection: texts } = useTexts(appTexts)
  const format = useFormat()
  const notify = useNotify()
  const since = useLostSince()
  const wasLost = useRef(false)
  useEffect(() => {
    if (wasLost.current && since === null) notify.done(texts.back)
    wasLost.current = since !== null
  }, [since, notify, texts])
  return (
    <div role="status" className={classes.connection}>
      {since !== null && (
        <Alert color="orange" variant="filled" autoContrast icon={<IconPlugConnectedX />} title={texts.lost}>
          {texts.lostText(format.time(new Date(since)))}
        </Alert>
      )}
    </div>
  )
}
