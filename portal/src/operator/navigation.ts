import { IconHome } from '@tabler/icons-react'
import type { NavigationItem } from '../app/navigation-item.ts'

export const operatorNavigation: NavigationItem[] = [{ to: '/operator', text: 'home', icon: IconHome, isExact: true }]
