import { IconHistory, IconKey, IconListDetails, IconShieldLock, IconUsersGroup, IconWebhook } from '@tabler/icons-react'
import type { NavigationItem } from '../routing/navigation-item.ts'
import { isManager, maySeeAuditLog, maySeeEvents } from '../session/rights.ts'

export const accountNavigation: NavigationItem[] = [
  { to: '/account/people', text: 'people', icon: IconUsersGroup, isFor: isManager },
  {
    to: '/account/credentials',
    text: 'ownCredentials',
    icon: IconKey,
    isFor: isManager,
  },
  { to: '/account/webhooks', text: 'webhooks', icon: IconWebhook, isFor: maySeeEvents },
  { to: '/account/events', text: 'events', icon: IconListDetails, isFor: maySeeEvents },
  { to: '/account/security', text: 'security', icon: IconShieldLock, isFor: isManager },
  {
    to: '/account/audit-log',
    text: 'securityLog',
    icon: IconHistory,
    isFor: session => maySeeAuditLog(session) && session.typeAccount !== 'platform',
  },
  {
    to: '/account/audit-log',
    text: 'auditLog',
    icon: IconHistory,
    isFor: ({ typeAccount }) => typeAccount === 'platform',
  },
]
