import { Alert, Card, Stack, Title } from '@mantine/core'
import { Fragment, type ReactNode } from 'react'
import { useTexts } from '../i18n/preferences.tsx'
import { homeTexts } from './home-texts.ts'
import type { Home, HomeTask } from './types.ts'

/**
 * What waits for the person, how many campaigns there are, and what waits for others.
 *
 * @param props.none what stands where nothing waits for the person
 */
export function HomeOverview(props: {
  home: Home
  none: ReactNode
  counts: ReactNode
  card: (task: HomeTask) => ReactNode
}) {
  const { home, none, counts, card } = props
  const texts = useTexts(homeTexts)
  const [mine, others] = (['me', 'other'] as const).map(whom => home.tasks.filter(({ waitsFor }) => waitsFor === whom))
  return (
    <Stack gap="xl">
      {mine?.length ? <Tasks title={texts.mine} tasks={mine} card={card} /> : <Card p={0}>{none}</Card>}
      {counts}
      {others && others.length > 0 && <Tasks title={texts.others} tasks={others} card={card} />}
      {!home.isComplete && <Alert color="blue">{texts.incomplete}</Alert>}
    </Stack>
  )
}

type Given = { title: string; tasks: readonly HomeTask[]; card: (task: HomeTask) => ReactNode }

function Tasks({ title, tasks, card }: Given) {
  return (
    <Stack component="section" gap="sm" aria-label={title}>
      <Title order={2}>{title}</Title>
      {tasks.map(task => (
        <Fragment key={[task.kind, task.cashbackId, task.bankId].join()}>{card(task)}</Fragment>
      ))}
    </Stack>
  )
}
