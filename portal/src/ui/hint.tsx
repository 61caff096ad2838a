import { Tooltip, type TooltipProps } from '@mantine/core'
import { cloneElement, type ReactElement, useState } from 'react'

/**
 * A tooltip. Its content is created only when somebody points at the element, because a table has dozens of tooltips
 * and hardly any of them is ever opened.
 *
 * @param props.label creates the text
 */
export function Hint(
  props: Omit<TooltipProps, 'label' | 'children'> & {
    label: () => string
    children: ReactElement<{ onPointerEnter?: () => void; 'data-hint'?: true }>
  },
) {
  const { label, children, ...others } = props
  const [isMet, setMet] = useState(false)
  if (!isMet) return cloneElement(children, { onPointerEnter: () => setMet(true), 'data-hint': true })
  return (
    <Tooltip defaultOpened label={label()} {...others}>
      {cloneElement(children, { 'data-hint': true })}
    </Tooltip>
  )
}
