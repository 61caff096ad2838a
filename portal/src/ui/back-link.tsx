import { Group } from '@mantine/core'
import { IconArrowLeft } from '@tabler/icons-react'
import { createLink } from '@tanstack/react-router'
import type { AnchorHTMLAttributes, Ref } from 'react'
import classes from './back-link.module.css'

type Props = AnchorHTMLAttributes<HTMLAnchorElement> & { ref?: Ref<HTMLAnchorElement> }

/** A link to the parent page, for example from a campaign to the list of campaigns. */
export const BackLink = createLink(({ children, ...others }: Props) => (
  <a {...others} className={classes.back}>
    <Group component="span" gap={6} wrap="nowrap">
      <IconArrowLeft size={16} style={{ flex: 'none' }} aria-hidden />
      {children}
    </Group>
  </a>
))
