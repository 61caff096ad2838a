import { IconChartBar, IconDeviceSim, IconFileText, IconHome, IconReceipt, IconSpeakerphone } from '@tabler/icons-react'
import type { NavigationItem } from '../routing/navigation-item.ts'
import { maySeeCampaigns, maySeeSales, maySeeStatements } from '../session/rights.ts'

export const bankNavigation: NavigationItem[] = [
  { to: '/bank', text: 'home', icon: IconHome, isExact: true },
  { to: '/bank/campaigns', text: 'campaigns', icon: IconSpeakerphone, isFor: maySeeCampaigns },
  { to: '/bank/esim/sales', text: 'esimSales', icon: IconChartBar, isFor: maySeeSales },
  { to: '/bank/esim/orders', text: 'esimOrders', icon: IconReceipt, isFor: maySeeSales },
  { to: '/bank/statements', text: 'statements', icon: IconFileText, isFor: maySeeStatements },
  { to: '/bank/esim/tariffs', text: 'esimStock', icon: IconDeviceSim, isFor: maySeeSales },
]
