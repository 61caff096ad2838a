import {
  IconBuildingStore,
  IconChecklist,
  IconDeviceMobile,
  IconFileText,
  IconHome,
  IconKey,
  IconPackages,
  IconReceipt2,
  IconSpeakerphone,
  IconUsers,
  IconWebhook,
} from '@tabler/icons-react'
import type { NavigationItem } from '../routing/navigation-item.ts'

export const operatorNavigation: NavigationItem[] = [
  { to: '/operator', text: 'home', icon: IconHome, isExact: true },
  { to: '/operator/partners', text: 'partners', icon: IconBuildingStore },
  { to: '/operator/access', text: 'access', icon: IconKey },
  { to: '/operator/mobile-operators', text: 'mobileOperators', icon: IconDeviceMobile },
  { to: '/operator/stock', text: 'stockDesk', icon: IconPackages },
  { to: '/operator/orders', text: 'esimOrders', icon: IconReceipt2 },
  { to: '/operator/statements', text: 'statements', icon: IconFileText },
  { to: '/operator/campaigns', text: 'campaigns', icon: IconSpeakerphone },
  { to: '/operator/customers', text: 'customers', icon: IconUsers },
  { to: '/operator/webhooks', text: 'partnerWebhooks', icon: IconWebhook },
  { to: '/operator/audit', text: 'audit', icon: IconChecklist },
]
