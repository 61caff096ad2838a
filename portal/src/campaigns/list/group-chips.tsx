import { Chip, Group } from '@mantine/core'
import { useFormat, useTexts } from '../../i18n/preferences.tsx'
import { homeTexts } from '../home/texts.ts'
import type { Home } from '../types.ts'
import { countOf, groupNames, type Group as StatusGroup } from './campaign-groups.ts'

/**
 * The groups of statuses to choose from, with the number of campaigns in each.
 *
 * @param props.home contains the counts; undefined until they are loaded
 */
export function GroupChips(props: {
  group: StatusGroup | undefined
  home: Home | undefined
  onGroup: (group: StatusGroup | undefined) => void
}) {
  const { group, home, onGroup } = props
  const { groups: names, group: title } = useTexts(homeTexts)
  const format = useFormat()
  const label = (each: StatusGroup) =>
    home ? `${names[each]} ${format.number(countOf(each, home.counts.byStatus))}` : names[each]
  return (
    <Chip.Group value={group ?? ''} onChange={value => onGroup(groupNames.find(each => each === value))}>
      <Group gap={6} role="radiogroup" aria-label={title}>
        <Chip value="">{names.all}</Chip>
        {groupNames.map(each => (
          <Chip key={each} value={each}>
            {label(each)}
          </Chip>
        ))}
      </Group>
    </Chip.Group>
  )
}
