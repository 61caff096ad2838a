import { Group, Text } from '@mantine/core'
import classes from './logo.module.css'

/** The logo: a summit, the same as on the pages of the API. */
export function Mark({ size = 28 }: { size?: number }) {
  return (
    <svg width={size} height={size} viewBox="0 0 32 32" aria-hidden="true">
      <rect width="32" height="32" rx="8" className={classes.ground} />
      <path d="M7 23 16 9l9 14" className={classes.summit} />
    </svg>
  )
}

export function Logo() {
  return (
    <Group gap={10} wrap="nowrap">
      <Mark />
      <Text component="span" fw={700} fz={18} className={classes.name}>
        Perkline
      </Text>
    </Group>
  )
}
