import { Tooltip, type TooltipProps } from '@mantine/core'
import { cloneElement, type ReactElement, useState } from 'react'

/**
 * Says more about something when one points at it. A table has dozens of these, and nearly all of them are never pointed at: what they
 * would say, and the tooltip around it, is made only then.
 *
 * @param props.label makes what is said
 */
export function Hint(
  props: Omit<TooltipProps, 'label' | 'children'> & {
    label: () => string
    children: ReactElement<{ onPointerEnter?: () => void }>
  },
) {
  const { label, children, ...others } = props
  const [isMet, setMet] = useState(false)
  if (!isMet) return cloneElement(children, { onPointerEnter: () => setMet(true) })
  return (
    <Tooltip defaultOpened label={label()} {...others}>
      {children}
    </Tooltip>
  )
}
