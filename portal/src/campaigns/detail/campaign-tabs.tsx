import { Tabs } from '@mantine/core'
import { type ReactNode, useEffect, useRef } from 'react'
import classes from '../parts.module.css'

/**
 * The tabs of a campaign's page.
 *
 * @param props.parts the content of each tab, in order
 * @param props.tab the current tab, from the address
 */
export function CampaignTabs<Tab extends string>(props: {
  parts: { tab: Tab; name: string; content: ReactNode }[]
  tab: Tab
  onTab: (tab: Tab | undefined) => void
}) {
  const { parts, tab, onTab } = props
  const list = useRef<HTMLDivElement>(null)
  useEffect(() => {
    if (list.current) showTab(list.current, tab)
  }, [tab])
  return (
    <Tabs value={tab} onChange={value => onTab(parts.find(part => part.tab === value)?.tab)} keepMounted={false}>
      <Tabs.List ref={list} className={classes.tabs ?? ''}>
        {parts.map(part => (
          <Tabs.Tab key={part.tab} value={part.tab} data-tab={part.tab}>
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

/**
 * On a narrow screen the tabs are one scrolling line. Scrolls this line alone, because `scrollIntoView` would also
 * scroll the page.
 */
function showTab(list: HTMLElement, tab: string): void {
  const current = list.querySelector(`[data-tab='${tab}']`)?.getBoundingClientRect()
  if (!current) return
  const { left, right } = list.getBoundingClientRect()
  if (current.left < left) list.scrollLeft -= left - current.left
  else if (current.right > right) list.scrollLeft += current.right - right
}
