/** Mantine's links as links of the router: `to`, `params` and `search` are checked by type. */
import { Anchor, Button, NavLink } from '@mantine/core'
import { createLink } from '@tanstack/react-router'

export const LinkAnchor = createLink(Anchor<'a'>)
export const LinkButton = createLink(Button<'a'>)
export const LinkNav = createLink(NavLink<'a'>)
