/** Mantine's links for the router: `to`, `params` and `search` are checked by type. */
import { Anchor, type AnchorProps, Button, type ButtonProps, NavLink } from '@mantine/core'
import { createLink } from '@tanstack/react-router'
import type { ComponentPropsWithRef } from 'react'

type LinkAttributes<Own> = Own & Omit<ComponentPropsWithRef<'a'>, keyof Own>

export const LinkAnchor = createLink((props: LinkAttributes<AnchorProps>) => <Anchor {...props} />)

/** A link that looks like a button, so it can be opened in another tab. */
export const LinkButton = createLink((props: LinkAttributes<ButtonProps>) => <Button component="a" {...props} />)

export const LinkNav = createLink(NavLink<'a'>)
