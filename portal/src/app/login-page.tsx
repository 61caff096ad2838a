import { Anchor, Group, Stack, Text } from '@mantine/core'
import { IconCheck } from '@tabler/icons-react'
import { Link } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import { useTexts } from '../i18n/preferences.tsx'
import { PageHeader } from '../ui/page-header.tsx'
import { ColourSchemeSwitch, LanguageSwitch } from './header-switches.tsx'
import { LoginForm } from './login-form.tsx'
import classes from './login-page.module.css'
import { Logo, Mark } from './logo.tsx'
import { appTexts } from './texts.ts'

/** The start page for merchants, banks and the platform's staff who are not logged in. */
export function LoginPage() {
  const texts = useTexts(appTexts).login
  return (
    <LoginFrame title={texts.title} lead={texts.lead}>
      <LoginForm />
      <Anchor component={Link} to="/forgotten" ta="center">
        {texts.forgotten}
      </Anchor>
    </LoginFrame>
  )
}

/** The frame around the pages that need no login. */
export function LoginFrame({ title, lead, children }: { title: string; lead: string; children: ReactNode }) {
  const texts = useTexts(appTexts).login
  return (
    <div className={classes.page}>
      <aside className={classes.brand}>
        <Logo />
        <div className={classes.words}>
          <Text className={classes.pitch}>{texts.pitch}</Text>
          <Stack component="ul" gap="sm" className={classes.points}>
            {Object.values(texts.points).map(point => (
              <Group key={point} component="li" gap="sm" wrap="nowrap" align="flex-start">
                <IconCheck size={20} stroke={2.5} aria-hidden />
                <span>{point}</span>
              </Group>
            ))}
          </Stack>
        </div>
        <Ridge />
      </aside>
      <div className={classes.side}>
        <Group className={classes.switches} gap="xs">
          <LanguageSwitch />
          <ColourSchemeSwitch />
        </Group>
        <main className={classes.box}>
          <div className={classes.phoneMark}>
            <Mark size={44} />
          </div>
          <PageHeader title={title} lead={lead} />
          <Stack gap="md">{children}</Stack>
        </main>
      </div>
    </div>
  )
}

/** Repeats the logo's mountain as a ridge at the horizon. */
function Ridge() {
  return (
    <svg className={classes.ridge} viewBox="0 0 600 160" preserveAspectRatio="xMidYMax slice" aria-hidden="true">
      <path d="M-20 160 80 40l70 84 92-112 96 116 70-84 62 74 82-98 110 140" />
      <path d="M-20 160 60 96l56 52 104-84 92 80 96-92 84 84 60-52 90 76" />
    </svg>
  )
}
