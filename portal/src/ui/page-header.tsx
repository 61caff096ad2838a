import { Group, Stack, Text, Title } from '@mantine/core'
import { useRouterState } from '@tanstack/react-router'
import { type ReactNode, useEffect, useRef } from 'react'
import classes from './page-header.module.css'

/** The end of each page's title in the browser. On the operator's home, it is the whole title. */
const product = 'Perkline'

/** The page that was shown last. A heading takes the focus when the page has changed, but not at the first load. */
let shownPath: string | null = null

/**
 * The heading of a page; every page has exactly one. It sets the browser's title, and takes the focus after a
 * navigation, so that keyboards and screen readers start at the new page.
 *
 * @param props.badge beside the title, such as a status
 * @param props.lead one sentence below it
 * @param props.actions buttons at the right, below the title on a phone
 * @param props.back a link to the parent page
 */
export function PageHeader(props: {
  title: string
  badge?: ReactNode
  lead?: ReactNode
  actions?: ReactNode
  back?: ReactNode
}) {
  const { title, badge, lead, actions, back } = props
  const heading = useRef<HTMLHeadingElement>(null)
  // The location whose page is visible. While another page is loading, this is still the previous location.
  const pathname = useRouterState({ select: ({ resolvedLocation }) => resolvedLocation?.pathname ?? null })
  useEffect(() => {
    if (pathname === null) return
    if (shownPath !== null && shownPath !== pathname) heading.current?.focus({ preventScroll: true })
    shownPath = pathname
  }, [pathname])

  return (
    <Stack gap={6} className={classes.header}>
      <title>{title === product ? product : `${title} · ${product}`}</title>
      {back}
      <Group justify="space-between" align="flex-start" gap="md">
        <Stack gap={6} className={classes.naming}>
          <Group gap="sm">
            <Title order={1} tabIndex={-1} ref={heading} className={classes.title}>
              {title}
            </Title>
            {badge}
          </Group>
          {lead && (
            <Text component="div" c="dimmed" maw="70ch">
              {lead}
            </Text>
          )}
        </Stack>
        {actions && <Group gap="sm">{actions}</Group>}
      </Group>
    </Stack>
  )
}
