import { Box, Text } from '@mantine/core'
import type { ReactNode } from 'react'
import classes from './key-facts.module.css'

export type KeyFact = { label: string; value: ReactNode; hint?: ReactNode }

/**
 * A few figures or facts side by side, each with its name. In a narrow card or on a phone they are one below the other.
 *
 * @param props.columns the maximum number of columns. There are fewer if they would be too narrow for their values
 */
export function KeyFacts({ facts, columns = 4 }: { facts: readonly KeyFact[]; columns?: number }) {
  return (
    <Box component="dl" className={classes.facts} __vars={{ '--columns': String(columns) }}>
      {facts.map(({ label, value, hint }) => (
        <div key={label}>
          <Text component="dt" size="sm" c="dimmed">
            {label}
          </Text>
          <dd className={classes.value}>
            {value}
            {hint && (
              <Text component="div" size="sm" c="dimmed" fw={400}>
                {hint}
              </Text>
            )}
          </dd>
        </div>
      ))}
    </Box>
  )
}
