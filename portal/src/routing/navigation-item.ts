import type { Icon } from '@tabler/icons-react'
import type { LinkProps } from '@tanstack/react-router'
import type { appTexts } from '../app/texts.ts'
import type { Session } from '../session/session.ts'

/** A line of the navigation. */
export type NavigationItem = {
  to: NonNullable<LinkProps['to']>
  /** Its name among the texts of the frame. */
  text: NavigationText
  icon: Icon
  /** Lit on this address only, not on those below it: for home. */
  isExact?: boolean
  /** Left out for those who would be refused. */
  isFor?: (session: Session) => boolean
}

type NavigationText = keyof (typeof appTexts)['en']['pages']
