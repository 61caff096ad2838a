import { Alert, Card, Stack, Title } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import type { HomeTask } from '../../campaigns/types.ts'
import { useTexts } from '../../i18n/preferences.tsx'
import { useMayChange, useSession } from '../../session/use-session.ts'
import { LinkButton } from '../../ui/links.tsx'
import { PageHeader } from '../../ui/page-header.tsx'
import { Empty, Loaded } from '../../ui/states.tsx'
import { GroupTiles } from '../parts/group-tiles.tsx'
import { TaskCard } from '../parts/task-card.tsx'
import { homeQuery } from '../queries.ts'
import { merchantTexts } from '../texts.ts'

/** What waits for the merchant, what it waits for itself, and how many campaigns there are. */
export function HomePage() {
  const { home: texts, campaigns } = useTexts(merchantTexts)
  const session = useSession()
  const mayChange = useMayChange()
  const query = useQuery({ ...homeQuery, refetchInterval: 60_000 })
  return (
    <>
      <PageHeader
        title={session.name}
        lead={texts.lead}
        actions={mayChange && <LinkButton to="/merchant/campaigns/new">{campaigns.create}</LinkButton>}
      />
      <Loaded query={query}>
        {({ tasks, isComplete, counts }) => (
          <Stack gap="xl">
            <Mine
              tasks={tasks.filter(({ waitsFor }) => waitsFor === 'me')}
              isNew={Object.values(counts.byStatus).every(count => count === 0)}
            />
            <GroupTiles byStatus={counts.byStatus} />
            <Others tasks={tasks.filter(({ waitsFor }) => waitsFor === 'other')} />
            {!isComplete && <Alert color="blue">{texts.incomplete}</Alert>}
          </Stack>
        )}
      </Loaded>
    </>
  )
}

function Mine({ tasks, isNew }: { tasks: readonly HomeTask[]; isNew: boolean }) {
  const { home: texts } = useTexts(merchantTexts)
  if (tasks.length > 0) return <Tasks title={texts.mine} tasks={tasks} />
  return (
    <Card p={0}>
      {isNew ? (
        <Empty title={texts.first} text={texts.firstText} />
      ) : (
        <Empty title={texts.nothing} text={texts.nothingText} />
      )}
    </Card>
  )
}

function Others({ tasks }: { tasks: readonly HomeTask[] }) {
  const { home: texts } = useTexts(merchantTexts)
  return tasks.length > 0 && <Tasks title={texts.others} tasks={tasks} />
}

function Tasks({ title, tasks }: { title: string; tasks: readonly HomeTask[] }) {
  return (
    <Stack component="section" gap="sm" aria-label={title}>
      <Title order={2}>{title}</Title>
      {tasks.map(task => (
        <TaskCard key={[task.kind, task.cashbackId, task.bankId].join()} task={task} />
      ))}
    </Stack>
  )
}
