import { AppShell, Burger, Group, Stack } from '@mantine/core'
import { useDisclosure, useMediaQuery } from '@mantine/hooks'
import { Link, Outlet, useLocation } from '@tanstack/react-router'
import { type KeyboardEvent, useEffect, useRef } from 'react'
import { useTexts } from '../i18n/preferences.tsx'
import { routingTexts } from '../routing/texts.ts'
import { areaOf } from '../session/session.ts'
import { useSession } from '../session/use-session.ts'
import { LinkNav } from '../ui/links.tsx'
import { AccountMenu } from './account-menu.tsx'
import { ConnectionNotice } from './connection-notice.tsx'
import { DialogsOfPage } from './dialogs.tsx'
import { ColourSchemeSwitch, LanguageSwitch } from './header-switches.tsx'
import classes from './layout.module.css'
import { Logo } from './logo.tsx'
import { navigationOf } from './navigation.ts'
import { PaletteButton } from './palette-button.tsx'
import { SessionWatch } from './session-watch.tsx'
import { appTexts } from './texts.ts'

const contentId = 'content'
/** Below Mantine's breakpoint `sm`, as in layout.module.css. */
const narrow = '(max-width: 47.99em)'

/** The frame around every page for logged-in people. */
export function Layout() {
  const texts = useTexts(appTexts)
  const { pages } = useTexts(routingTexts)
  const session = useSession()
  const { pathname } = useLocation()
  const [isOpen, { toggle, close }] = useDisclosure()
  const burger = useRef<HTMLButtonElement>(null)
  const isNarrow = useMediaQuery(narrow, undefined, { getInitialValueInEffect: false })
  // On a narrow screen the open navigation covers the page, so the focus must not go there.
  const isCovering = isOpen && isNarrow
  const closeByEscape = ({ key, currentTarget, target }: KeyboardEvent) => {
    // A menu of the header is outside of it in the document, and has its own Escape.
    if (!isCovering || key !== 'Escape' || !currentTarget.contains(target as Node)) return
    close()
    burger.current?.focus()
  }
  // biome-ignore lint/correctness/useExhaustiveDependencies: the navigation closes whenever the page changes
  useEffect(close, [pathname])

  return (
    <AppShell
      header={{ height: 60 }}
      navbar={{ width: 244, breakpoint: 'sm', collapsed: { mobile: !isOpen } }}
      padding={{ base: 'md', sm: 'xl' }}
      classNames={{ navbar: classes.navbar ?? '', header: classes.header ?? '' }}
    >
      <a href={`#${contentId}`} className={classes.skip} onClick={close}>
        {texts.skipLink}
      </a>
      <AppShell.Header onKeyDown={closeByEscape}>
        <Group h="100%" px="md" justify="space-between" wrap="nowrap">
          <Group gap="sm" wrap="nowrap">
            <Burger
              ref={burger}
              opened={isOpen}
              onClick={toggle}
              hiddenFrom="sm"
              size="sm"
              aria-label={isOpen ? texts.closeNavigation : texts.openNavigation}
              aria-expanded={isOpen}
            />
            <Link
              to={areaOf[session.typeAccount]}
              // The logo links to the home page. Without `exact`, it would be marked as the current page on every page
              // of the area, because their addresses begin with that of the home page.
              activeOptions={{ exact: true }}
              className={classes.home}
              aria-label={`Perkline: ${pages.home}`}
            >
              <Logo />
            </Link>
          </Group>
          <Group gap={4} wrap="nowrap">
            <PaletteButton />
            <div className={classes.wide}>
              <LanguageSwitch />
            </div>
            <ColourSchemeSwitch />
            <AccountMenu />
          </Group>
        </Group>
      </AppShell.Header>
      <AppShell.Navbar p="sm" aria-label={texts.navigation} mod={{ closed: !isOpen }} onKeyDown={closeByEscape}>
        <Stack gap={2} style={{ flex: 1 }}>
          {navigationOf(session).map(({ to, text, icon: Picture, isExact = false }) => (
            <LinkNav
              key={to}
              to={to}
              activeOptions={{ exact: isExact }}
              activeProps={{ active: true }}
              onClick={close}
              label={pages[text]}
              leftSection={<Picture size={20} stroke={1.7} aria-hidden />}
              className={classes.link ?? ''}
            />
          ))}
        </Stack>
        <div className={classes.narrow}>
          <LanguageSwitch />
        </div>
      </AppShell.Navbar>
      <AppShell.Main id={contentId} tabIndex={-1} className={classes.main ?? ''} inert={isCovering}>
        <div className={classes.page}>
          <ConnectionNotice />
          <Outlet />
        </div>
      </AppShell.Main>
      <SessionWatch />
      <DialogsOfPage />
    </AppShell>
  )
}
