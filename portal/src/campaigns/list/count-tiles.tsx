import { Card, SimpleGrid, Stack, Text, Title } from '@mantine/core'
import type { ReactNode } from 'react'
import { useFormat } from '../../i18n/preferences.tsx'
import classes from '../parts.module.css'

export type CountTile = { key: string; label: string; count: number }

/**
 * Counts as tiles; each is a link to the counted items.
 *
 * @param props.link builds the link, whose clickable area covers the tile
 */
export function CountTiles<Tile extends CountTile>(props: {
  title: string
  tiles: readonly Tile[]
  link: (tile: Tile, children: ReactNode, look: string) => ReactNode
}) {
  const { title, tiles, link } = props
  const format = useFormat()
  return (
    <Stack component="section" gap="sm" aria-label={title}>
      <Title order={2}>{title}</Title>
      <SimpleGrid
        cols={{ base: 3, md: Math.min(tiles.length, 6) }}
        spacing={{ base: 'xs', sm: 'sm' }}
        className={classes.tiles ?? ''}
      >
        {tiles.map(tile => (
          <Card key={tile.key} padding="sm" className={classes.tile ?? ''}>
            {link(
              tile,
              <>
                <Text size="xl" fw={650} className="figure">
                  {format.number(tile.count)}
                </Text>
                <Text size="sm" c="dimmed">
                  {tile.label}
                </Text>
              </>,
              classes.tileLink ?? '',
            )}
          </Card>
        ))}
      </SimpleGrid>
    </Stack>
  )
}
