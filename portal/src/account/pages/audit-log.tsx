import { Alert, Anchor, Badge, Button, Group, Stack, Text } from '@mantine/core'
import { IconDownload, IconShieldCheck } from '@tabler/icons-react'
import { useInfiniteQuery, useQuery } from '@tanstack/react-query'
import { getRouteApi } from '@tanstack/react-router'
import { useFormat, usePreferences, useTexts } from '../../i18n/preferences.tsx'
import { useSession } from '../../session/use-session.ts'
import type { Column } from '../../ui/data-table/columns.ts'
import { DataTable } from '../../ui/data-table/data-table.tsx'
import { ShowMore } from '../../ui/data-table/show-more.tsx'
import { useShownPages } from '../../ui/data-table/use-shown-pages.ts'
import { useSetSearch } from '../../ui/data-table/use-table-search.ts'
import { LinkAnchor, LinkButton } from '../../ui/links.tsx'
import { PageHeader } from '../../ui/page-header.tsx'
import { Empty } from '../../ui/states.tsx'
import { DateTime } from '../../ui/values.tsx'
import { actionText, actionTexts, objectText } from '../audit-log/action-texts.ts'
import { ObjectName, Outcome, showEntry } from '../audit-log/entry-details.tsx'
import { EntryFilters } from '../audit-log/filters.tsx'
import { type KnownNames, useKnownNames } from '../audit-log/names.ts'
import { checkpointQuery, type Entry, entriesQuery, exportPath } from '../audit-log/queries.ts'
import { type AuditLogSearch, readObject, writeObject } from '../audit-log/search.ts'
import { useShownChanges } from '../audit-log/shown-value.ts'
import { auditLogTexts } from '../audit-log/texts.ts'
import { useActorText, useViaText } from '../audit-log/use-actor-text.ts'

const route = getRouteApi('/signed-in/account/audit-log')
const here = '/account/audit-log'

/** The audit log of the person's own account. The platform's people see the logs of all accounts. */
export function AuditLogPage() {
  const texts = useTexts(auditLogTexts)
  const { timeZone } = usePreferences()
  const isPlatform = useSession().typeAccount === 'platform'
  const { page, ...filters } = route.useSearch()
  const setSearch = useSetSearch<AuditLogSearch>()
  const query = useInfiniteQuery(entriesQuery(filters, timeZone))
  const { rows, ...more } = useShownPages(query, page, next => setSearch({ page: next }))
  const { known, actors } = useKnownNames(rows ?? [])
  return (
    <>
      <PageHeader
        title={isPlatform ? texts.titles.platform : texts.titles.partner}
        lead={isPlatform ? texts.leadAll : texts.lead}
        actions={
          <Button
            component="a"
            href={exportPath(filters, timeZone)}
            download="audit-log.jsonl"
            variant="default"
            leftSection={<IconDownload size={16} aria-hidden />}
          >
            {texts.export}
          </Button>
        }
      />
      <Checked />
      <EntryFilters filters={filters} onFilter={setSearch} actors={actors} />
      <Story object={filters.object} known={known} />
      <DataTable
        label={isPlatform ? texts.titles.platform : texts.titles.partner}
        columns={useColumns(known, isPlatform)}
        query={query}
        rows={rows}
        rowKey={({ seq, accountSeq }) => String(seq ?? accountSeq)}
        empty={<Empty title={more.hasMore ? texts.noneYet : texts.none} />}
      />
      <ShowMore {...more}>{texts.older}</ShowMore>
    </>
  )
}

/** Shows the last entry that the newest signed checkpoint covers, or that there is no checkpoint yet. */
function Checked() {
  const texts = useTexts(auditLogTexts)
  const format = useFormat()
  const { data: checkpoint } = useQuery(checkpointQuery)
  if (checkpoint === undefined) return null
  const number = checkpoint?.seq ?? checkpoint?.accountSeq ?? 0
  return (
    <Group gap="xs" mb="md" role="note" aria-label={texts.checkedLabel}>
      <Badge
        color={checkpoint ? 'perk' : 'gray'}
        size="lg"
        leftSection={<IconShieldCheck size={14} stroke={2.2} aria-hidden />}
      >
        {checkpoint ? texts.checked(format.dateTime(checkpoint.at)) : texts.unchecked}
      </Badge>
      <Text size="sm" c="dimmed">
        {checkpoint ? texts.checkedText(format.number(number)) : texts.uncheckedText}
      </Text>
    </Group>
  )
}

/** Says that only one object's entries are shown, with a link to all entries. */
function Story({ object, known }: { object: string | undefined; known: KnownNames }) {
  const texts = useTexts(auditLogTexts)
  const kind = useTexts(actionTexts)
  const chosen = readObject(object)
  if (!chosen?.id) return null
  const name = `${objectText(kind, chosen.type)}, ${known.get(chosen.id) ?? chosen.id}`
  return (
    <Alert mb="md" title={texts.story(name)} styles={{ title: { overflowWrap: 'anywhere' } }}>
      <LinkButton to={here} size="xs" variant="default">
        {texts.leaveStory}
      </LinkButton>
    </Alert>
  )
}

function useColumns(known: KnownNames, isPlatform: boolean): Column<Entry>[] {
  const texts = useTexts(auditLogTexts)
  const account: Column<Entry> = {
    key: 'account',
    title: texts.account,
    cell: ({ account: { type, id } }) => (id === null ? texts.platform : (known.get(id) ?? type)),
  }
  return [
    { key: 'what', title: texts.what, cell: entry => <What entry={entry} known={known} /> },
    { key: 'object', title: texts.object, cell: ({ object }) => <ObjectLink object={object} known={known} /> },
    { key: 'who', title: texts.who, cell: entry => <Who entry={entry} /> },
    ...(isPlatform ? [account] : []),
    { key: 'change', title: texts.change, cell: entry => <ChangeSummary entry={entry} known={known} />, isMinor: true },
    { key: 'at', title: texts.at, cell: ({ at }) => <DateTime at={at} /> },
  ]
}

/** The action, as a link that opens the entry. */
function What({ entry, known }: { entry: Entry; known: KnownNames }) {
  const title = actionText(useTexts(actionTexts), entry.action)
  return (
    <Group gap="xs">
      <Anchor component="button" type="button" fw={600} ta="start" onClick={() => showEntry({ title, entry, known })}>
        {title}
      </Anchor>
      {entry.outcome === 'refused' && <Outcome outcome="refused" />}
    </Group>
  )
}

/** The object, as a link to all entries about it. */
function ObjectLink({ object, known }: { object: Entry['object']; known: KnownNames }) {
  const texts = useTexts(auditLogTexts)
  const name = <ObjectName object={object} known={known} />
  const kind = objectText(useTexts(actionTexts), object.type)
  if (object.id === null) return name
  return (
    <LinkAnchor
      to={here}
      search={{ object: writeObject(object.type, object.id) }}
      c="inherit"
      inherit
      title={texts.storyHint(`${kind} ${known.get(object.id) ?? object.id}`)}
    >
      {name}
    </LinkAnchor>
  )
}

/** The actor and the interface used, as a link to all entries of this actor. */
function Who({ entry }: { entry: Entry }) {
  const texts = useTexts(auditLogTexts)
  const name = useActorText()(entry)
  const via = useViaText()(entry)
  const { actor } = entry
  return (
    <Stack gap={6} align="flex-start">
      {actor.id === null ? (
        <span>{name}</span>
      ) : (
        <LinkAnchor to={here} search={{ actor: actor.id }} c="inherit" inherit title={texts.actorHint(name)}>
          {name}
        </LinkAnchor>
      )}
      <Text size="sm" c="dimmed">
        {via}
      </Text>
    </Stack>
  )
}

/** A row shows at most this many changed fields, and at most this many characters of each value. */
const maxFields = 2
const maxLength = 24

const shortened = (value: string): string => (value.length > maxLength ? `${value.slice(0, maxLength)}…` : value)

function ChangeSummary({ entry, known }: { entry: Entry; known: KnownNames }) {
  const texts = useTexts(auditLogTexts)
  const format = useFormat()
  const changes = useShownChanges(known)(entry)
  const further = changes.length - maxFields
  return (
    <Stack gap={2} style={{ overflowWrap: 'anywhere' }}>
      {changes.slice(0, maxFields).map(({ field, before, after }) => (
        <Text size="sm" key={field} lineClamp={2}>
          {field}: {before === '' ? after : texts.fromTo(shortened(before), shortened(after))}
        </Text>
      ))}
      {further > 0 && (
        <Text size="sm" c="dimmed">
          {texts.furtherFields(format.number(further))}
        </Text>
      )}
    </Stack>
  )
}
