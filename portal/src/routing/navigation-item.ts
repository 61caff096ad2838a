import type { Icon } from '@tabler/icons-react'
import type { LinkProps } from '@tanstack/react-router'
import type { appTexts } from '../app/texts.ts'
import type { Session } from '../session/session.ts'

/** An entry of the navigation. */
export type NavigationItem = {
  to: NonNullable<LinkProps['to']>
  /** The name of its message in the texts of the frame. */
  text: NavigationText
  icon: Icon
  /** Highlighted on this address only, not on addresses below it: for the home page. */
  isExact?: boolean
  /** Left out for people without access. */
  isFor?: (session: Session) => boolean
}

type NavigationText = keyof (typeof appTexts)['en']['pages']
