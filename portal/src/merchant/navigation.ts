import { IconHome, IconSpeakerphone } from '@tabler/icons-react'
import type { NavigationItem } from '../routing/navigation-item.ts'

export const merchantNavigation: NavigationItem[] = [
  { to: '/merchant', text: 'home', icon: IconHome, isExact: true },
  { to: '/merchant/campaigns', text: 'campaigns', icon: IconSpeakerphone },
]
