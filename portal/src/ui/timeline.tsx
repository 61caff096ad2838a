import { Timeline as MantineTimeline, Text } from '@mantine/core'
import type { ReactNode } from 'react'
import { ExactTime } from './values.tsx'

export type Happening = {
  key: string
  at: string
  title: ReactNode
  by?: string | null
  text?: ReactNode
  icon?: ReactNode
}

/** Events with their time and actor, in the given order. */
export function Timeline({ happenings }: { happenings: readonly Happening[] }) {
  return (
    <MantineTimeline active={happenings.length} bulletSize={22} lineWidth={2}>
      {happenings.map(({ key, at, title, by, text, icon }) => (
        <MantineTimeline.Item key={key} title={title} bullet={icon}>
          {text && (
            <Text component="div" size="sm">
              {text}
            </Text>
          )}
          <Text size="sm" c="dimmed">
            <ExactTime at={at} />
            {by && ` · ${by}`}
          </Text>
        </MantineTimeline.Item>
      ))}
    </MantineTimeline>
  )
}
