/** The navigation of each kind of account. Each area's own list is beside its routes. */
import { accountNavigation } from '../account/navigation.ts'
import { bankNavigation } from '../bank/navigation.ts'
import { merchantNavigation } from '../merchant/navigation.ts'
import { operatorNavigation } from '../operator/navigation.ts'
import type { NavigationItem } from '../routing/navigation-item.ts'
import type { Session } from '../session/session.ts'

const lists = { retailer: merchantNavigation, bank: bankNavigation, platform: operatorNavigation }

export const navigationOf = (session: Session): NavigationItem[] =>
  [...lists[session.typeAccount], ...accountNavigation].filter(({ isFor }) => !isFor || isFor(session))
