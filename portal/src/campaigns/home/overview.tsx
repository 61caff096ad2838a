/** The home page of merchants and banks: counts, the person's own tasks by urgency, and the tasks of others. */
import { Alert, Card, Chip, Group, Stack, Text, Title } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { Fragment, type ReactNode } from 'react'
import { useFormat, useTexts } from '../../i18n/preferences.tsx'
import { useNow } from '../../session/use-now.ts'
import { useMayChange } from '../../session/use-session.ts'
import { Pages } from '../../ui/data-table/pages.tsx'
import { useLastPage } from '../../ui/data-table/use-last-page.ts'
import { useSetSearch } from '../../ui/data-table/use-table-search.ts'
import { Empty, Loaded } from '../../ui/states.tsx'
import type { Home, HomeTask } from '../types.ts'
import { type HomeParams, type HomeSearch, type partnersHomeQuery, type TaskKind, taskKinds } from './query.ts'
import { homeTexts } from './texts.ts'

type Props = {
  query: (params: HomeParams) => ReturnType<typeof partnersHomeQuery>
  search: HomeSearch
  card: (task: HomeTask) => ReactNode
}

/**
 * @param props.query makes the query for the home of merchants or of banks
 * @param props.counts the tiles with the numbers of campaigns
 * @param props.between content that is shown between the person's tasks and those of others
 * @param props.none content that is shown when the person has no task
 */
export function HomeOverview(
  props: Props & {
    counts: (home: Home) => ReactNode
    between?: (home: Home) => ReactNode
    none: (home: Home) => ReactNode
  },
) {
  const { query, search, card, counts, between, none } = props
  const texts = useTexts(homeTexts)
  const title = useMayChange() ? texts.mine : texts.ours
  const setSearch = useSetSearch<HomeSearch>()
  const home = useQuery({ ...query({ kind: search.kind, page: search.page }), refetchInterval: 60_000 })
  useLastPage(home.data?.pagination, page => setSearch({ page }))
  return (
    <Loaded query={home}>
      {read => (
        <Stack gap="xl">
          {counts(read)}
          {sumOf(read.totals.me) > 0 ? (
            <Section title={title} count={sumOf(read.totals.me)}>
              <KindFilter totals={read.totals.me} kind={search.kind} onKind={kind => setSearch({ kind })} />
              <ByUrgency tasks={read.tasks} card={card} />
              {read.pagination.totalItems === 0 && <Empty title={texts.noneOfKind} />}
              {read.pagination.totalPages > 1 && (
                <Pages of={title} paging={read.pagination} onPage={page => setSearch({ ...search, page })} />
              )}
            </Section>
          ) : (
            <Card p={0}>{none(read)}</Card>
          )}
          {between?.(read)}
          {sumOf(read.totals.other) > 0 && <Others {...{ query, search, card }} count={sumOf(read.totals.other)} />}
          {!read.isComplete && <Alert color="blue">{texts.incomplete}</Alert>}
        </Stack>
      )}
    </Loaded>
  )
}

const sumOf = (totals: Home['totals']['me']): number => Object.values(totals).reduce((sum, count) => sum + count, 0)

function Section({ title, count, children }: { title: string; count: number; children: ReactNode }) {
  const format = useFormat()
  return (
    <Stack component="section" gap="sm" aria-label={title}>
      <Title order={2}>
        {title}{' '}
        <Text span inherit c="dimmed" fw={500}>
          {format.number(count)}
        </Text>
      </Title>
      {children}
    </Stack>
  )
}

type KindFilterProps = { totals: Home['totals']['me']; kind: TaskKind | undefined; onKind: (kind?: TaskKind) => void }

/** Filters the person's tasks by kind. Shows nothing when there is only one kind to choose. */
function KindFilter({ totals, kind, onKind }: KindFilterProps) {
  const texts = useTexts(homeTexts)
  const format = useFormat()
  const shown = taskKinds.filter(each => totals[each] || each === kind)
  if (shown.length < 2) return null
  return (
    <Chip.Group value={kind ?? ''} onChange={value => onKind(taskKinds.find(each => each === value))}>
      <Group gap={6} role="radiogroup" aria-label={texts.kind}>
        <Chip value="">{texts.groups.all}</Chip>
        {shown.map(each => (
          <Chip key={each} value={each}>
            {`${texts.kinds[each]} ${format.number(totals[each] ?? 0)}`}
          </Chip>
        ))}
      </Group>
    </Chip.Group>
  )
}

const soonMs = 3 * 86_400_000

/** Shows the tasks of each urgency below a heading. They keep their order, by deadline. */
function ByUrgency({ tasks, card }: { tasks: readonly HomeTask[] } & Pick<Props, 'card'>) {
  const texts = useTexts(homeTexts)
  const now = useNow()
  const urgencyOf = ({ by }: HomeTask) =>
    by === null ? 'none' : Date.parse(by) - now.getTime() <= soonMs ? 'soon' : 'later'
  return (['soon', 'later', 'none'] as const).map(urgency => {
    const those = tasks.filter(task => urgencyOf(task) === urgency)
    if (those.length === 0) return null
    return (
      <Fragment key={urgency}>
        <Title order={3} mt="xs">
          {texts.urgencies[urgency]}
        </Title>
        {those.map(task => (
          <Fragment key={keyOf(task)}>{card(task)}</Fragment>
        ))}
      </Fragment>
    )
  })
}

const keyOf = ({ kind, cashbackId, bankId }: HomeTask): string => [kind, cashbackId, bankId].join()

function Others({ query, search, card, count }: Props & { count: number }) {
  const texts = useTexts(homeTexts)
  const setSearch = useSetSearch<HomeSearch>()
  const others = useQuery({ ...query({ waitsFor: 'other', page: search.others }), refetchInterval: 60_000 })
  useLastPage(others.data?.pagination, page => setSearch({ ...search, others: page }))
  return (
    <Section title={texts.others} count={count}>
      <Loaded query={others}>
        {({ tasks, pagination }) => (
          <>
            {tasks.map(task => (
              <Fragment key={keyOf(task)}>{card(task)}</Fragment>
            ))}
            {pagination.totalPages > 1 && (
              <Pages of={texts.others} paging={pagination} onPage={page => setSearch({ ...search, others: page })} />
            )}
          </>
        )}
      </Loaded>
    </Section>
  )
}
