import type { Icon } from '@tabler/icons-react'
import type { LinkProps } from '@tanstack/react-router'
import type { Session } from '../session/session.ts'
import type { routingTexts } from './texts.ts'

/** An entry of the navigation. */
export type NavigationItem = {
  to: NonNullable<LinkProps['to']>
  /** The key of the entry's name in `routingTexts.pages`. */
  text: NavigationText
  icon: Icon
  /** The entry is highlighted only at exactly this address, not at addresses below it. The home page needs this. */
  isExact?: boolean
  /** Decides whether the person may see the entry. Without this function, everybody sees it. */
  isFor?: (session: Session) => boolean
}

type NavigationText = keyof (typeof routingTexts)['en']['pages']
