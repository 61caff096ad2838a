import { Button, Select, Stack } from '@mantine/core'
import { modals } from '@mantine/modals'
import { useState } from 'react'
import { usePreferences, useTexts } from '../i18n/preferences.tsx'
import { timeZones } from '../i18n/time-zone.ts'
import { appTexts } from './texts.ts'

/** Sets the time zone in which this browser enters and shows campaign days. */
export function TimeZoneForm() {
  const texts = useTexts(appTexts)
  const { timeZone, setTimeZone } = usePreferences()
  const [chosen, setChosen] = useState(timeZone)
  const zones = [...new Set([timeZone, ...timeZones()])]
  return (
    <form
      onSubmit={event => {
        event.preventDefault()
        setTimeZone(chosen)
        modals.closeAll()
      }}
    >
      <Stack>
        <Select
          data-autofocus
          searchable
          selectFirstOptionOnChange
          autoSelectOnBlur
          allowDeselect={false}
          label={texts.timeZone}
          description={texts.timeZoneHint}
          data={zones}
          value={chosen}
          onChange={zone => setChosen(zone ?? timeZone)}
          comboboxProps={{ withinPortal: true }}
          limit={60}
        />
        <Button type="submit">{texts.save}</Button>
      </Stack>
    </form>
  )
}
