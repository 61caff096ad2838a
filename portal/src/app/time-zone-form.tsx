import { Button, Stack } from '@mantine/core'
import { modals } from '@mantine/modals'
import { useState } from 'react'
import { usePreferences, useTexts } from '../i18n/preferences.tsx'
import { TimeZoneSelect } from '../ui/search-select.tsx'
import { appTexts } from './texts.ts'

/** Sets the time zone in which this browser enters and shows campaign days. */
export function TimeZoneForm() {
  const texts = useTexts(appTexts)
  const { timeZone, setTimeZone } = usePreferences()
  const [chosen, setChosen] = useState(timeZone)
  return (
    <form
      onSubmit={event => {
        event.preventDefault()
        setTimeZone(chosen)
        modals.closeAll()
      }}
    >
      <Stack>
        <TimeZoneSelect
          data-autofocus
          label={texts.timeZone}
          description={texts.timeZoneHint}
          value={chosen}
          onChange={setChosen}
        />
        <Button type="submit">{texts.save}</Button>
      </Stack>
    </form>
  )
}
