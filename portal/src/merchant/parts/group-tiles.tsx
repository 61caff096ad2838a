import { Card, SimpleGrid, Stack, Text, Title } from '@mantine/core'
import { Link } from '@tanstack/react-router'
import type { Home } from '../../campaigns/types.ts'
import { useFormat, useTexts } from '../../i18n/preferences.tsx'
import { countOf, groupNames } from '../campaign-groups.ts'
import { merchantTexts } from '../texts.ts'
import classes from './parts.module.css'

/** How many campaigns each general status has; each figure leads to them. */
export function GroupTiles({ byStatus }: { byStatus: Home['counts']['byStatus'] }) {
  const { groups, home } = useTexts(merchantTexts)
  const format = useFormat()
  return (
    <Stack component="section" gap="sm" aria-label={home.counts}>
      <Title order={2}>{home.counts}</Title>
      <SimpleGrid cols={{ base: 2, xs: 3, md: 5 }} spacing="sm">
        {groupNames.map(group => (
          <Card key={group} padding="md" className={classes.tile ?? ''}>
            <Link to="/merchant/campaigns" search={{ group }} className={classes.tileLink}>
              <Text size="xl" fw={650} className="figure">
                {format.number(countOf(group, byStatus))}
              </Text>
              <Text size="sm" c="dimmed">
                {groups[group]}
              </Text>
            </Link>
          </Card>
        ))}
      </SimpleGrid>
    </Stack>
  )
}
