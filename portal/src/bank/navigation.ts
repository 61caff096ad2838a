import { IconHome } from '@tabler/icons-react'
import type { NavigationItem } from '../app/navigation-item.ts'

export const bankNavigation: NavigationItem[] = [{ to: '/bank', text: 'home', icon: IconHome, isExact: true }]
