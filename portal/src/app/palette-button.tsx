import { Kbd, Text, UnstyledButton, VisuallyHidden } from '@mantine/core'
import { useHotkeys } from '@mantine/hooks'
import { IconSearch } from '@tabler/icons-react'
import { type ComponentType, useState } from 'react'
import { useTexts } from '../i18n/preferences.tsx'
import { part } from '../ui/not-loaded.ts'
import classes from './layout.module.css'
import { usePartFailed } from './part-failed.ts'
import { appTexts } from './texts.ts'

const isMac = /mac|iphone|ipad/i.test(navigator.userAgent)

/** Opens the command palette, by its button or Ctrl+K (Cmd+K). The palette's code is loaded when it is first opened. */
export function PaletteButton() {
  const { palette: texts } = useTexts(appTexts)
  const partFailed = usePartFailed()
  const [Palette, setPalette] = useState<ComponentType<{ opened: number }> | null>(null)
  const [opened, setOpened] = useState(0)
  const open = () => {
    part(import('./command-palette.tsx')).then(({ CommandPalette }) => {
      setPalette(() => CommandPalette)
      setOpened(times => times + 1)
    }, partFailed)
  }
  // Above an open dialog, the next Escape would close both and throw the dialog's input away.
  const openByKey = () => document.querySelector('[aria-modal=true]') === null && open()
  // Compares the physical key, because the same key types another letter in a Ukrainian keyboard layout.
  useHotkeys([['mod+K', openByKey, { usePhysicalKeys: true }]], [])
  return (
    <>
      <UnstyledButton className={classes.palette} aria-keyshortcuts={isMac ? 'Meta+K' : 'Control+K'} onClick={open}>
        <IconSearch size={18} aria-hidden />
        <Text span size="sm" c="dimmed" className={classes.paletteWords} aria-hidden>
          {texts.open}
        </Text>
        <Kbd size="xs" className={classes.paletteWords} aria-hidden>
          {isMac ? '⌘K' : 'Ctrl K'}
        </Kbd>
        <VisuallyHidden>{texts.open}</VisuallyHidden>
      </UnstyledButton>
      {Palette && <Palette opened={opened} />}
    </>
  )
}
