/** The switches in every header: language, and light or dark. */
import { ActionIcon, Button, Tooltip, useComputedColorScheme, useMantineColorScheme } from '@mantine/core'
import { IconLanguage, IconMoon, IconSun } from '@tabler/icons-react'
import { languageNames } from '../i18n/language.ts'
import { usePreferences, useTexts } from '../i18n/preferences.tsx'
import { sendLanguage } from '../session/session.ts'
import { appTexts } from './texts.ts'

/** Shows the name of the other language in that language, for people who do not understand the current language. */
export function LanguageSwitch() {
  const { language, setLanguage } = usePreferences()
  const other = language === 'uk' ? 'en' : 'uk'
  return (
    <Button
      variant="subtle"
      color="gray"
      size="compact-md"
      lang={other}
      leftSection={<IconLanguage size={18} aria-hidden />}
      onClick={() => {
        setLanguage(other)
        sendLanguage(other)
      }}
    >
      {languageNames[other]}
    </Button>
  )
}

export function ColourSchemeSwitch() {
  const texts = useTexts(appTexts)
  const { setColorScheme } = useMantineColorScheme()
  const isDark = useComputedColorScheme('light', { getInitialValueInEffect: false }) === 'dark'
  const label = isDark ? texts.toLight : texts.toDark
  return (
    <Tooltip label={label}>
      <ActionIcon
        variant="subtle"
        color="gray"
        size="lg"
        aria-label={label}
        onClick={() => setColorScheme(isDark ? 'light' : 'dark')}
      >
        {isDark ? <IconSun size={20} aria-hidden /> : <IconMoon size={20} aria-hidden />}
      </ActionIcon>
    </Tooltip>
  )
}
