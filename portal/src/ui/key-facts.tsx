import { SimpleGrid, Text } from '@mantine/core'
import type { ReactNode } from 'react'
import classes from './key-facts.module.css'

export type KeyFact = { label: string; value: ReactNode; hint?: ReactNode }

/** A few figures or facts side by side, each with its name; on a phone one below the other. */
export function KeyFacts({ facts, columns = 4 }: { facts: readonly KeyFact[]; columns?: number }) {
  return (
    <SimpleGrid component="dl" cols={{ base: 1, xs: 2, md: columns }} spacing="lg" verticalSpacing="md" m={0}>
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
    </SimpleGrid>
  )
}
