import { Tabs } from '@mantine/core'
import type { ReactNode } from 'react'
import classes from '../parts.module.css'

/**
 * The parts of a campaign's page, one of which is shown.
 *
 * @param props.parts what each tab shows, in their order
 * @param props.tab the one of the address
 */
export function CampaignTabs<Tab extends string>(props: {
  parts: { tab: Tab; name: string; content: ReactNode }[]
  tab: Tab
  onTab: (tab: Tab | undefined) => void
}) {
  const { parts, tab, onTab } = props
  return (
    <Tabs value={tab} onChange={value => onTab(parts.find(part => part.tab === value)?.tab)} keepMounted={false}>
      <Tabs.List className={classes.tabs ?? ''}>
        {parts.map(part => (
          <Tabs.Tab key={part.tab} value={part.tab}>
            {part.name}
          </Tabs.Tab>
        ))}
      </Tabs.List>
      {parts.map(part => (
        <Tabs.Panel key={part.tab} value={part.tab} pt="lg">
          {part.content}
        </Tabs.Panel>
      ))}
    </Tabs>
  )
}
