import { ActionIcon, Badge, Code, CopyButton, Group, Stack, Table, Text } from '@mantine/core'
import { modals } from '@mantine/modals'
import { IconCheck, IconCopy } from '@tabler/icons-react'
import type { ReactNode } from 'react'
import { useFormat, useTexts } from '../../i18n/preferences.tsx'
import { KeyFacts } from '../../ui/key-facts.tsx'
import { uiTexts } from '../../ui/texts.ts'
import { none } from '../../ui/values.tsx'
import { actionTexts, objectText } from './action-texts.ts'
import type { KnownNames } from './names.ts'
import type { Entry } from './queries.ts'
import { type ShownChange, useShownChanges } from './shown-value.ts'
import { auditLogTexts } from './texts.ts'
import { useActorText, useViaText } from './use-actor-text.ts'

/**
 * Opens a dialog with the whole entry.
 * @param params.known names by id; a parameter, because dialogs have no access to the session
 */
export function showEntry(params: { title: string; entry: Entry; known: KnownNames }): void {
  const { title, entry, known } = params
  modals.open({ title, size: 'xl', children: <EntryDetails entry={entry} known={known} /> })
}

function EntryDetails({ entry, known }: { entry: Entry; known: KnownNames }) {
  const changes = useShownChanges(known)(entry)
  const texts = useTexts(auditLogTexts)
  return (
    <Stack gap="lg">
      <KeyFacts facts={useFacts(entry, known)} columns={3} />
      {changes.length > 0 ? <Changes changes={changes} /> : <Text c="dimmed">{texts.noChange}</Text>}
    </Stack>
  )
}

function useFacts(entry: Entry, known: KnownNames) {
  const texts = useTexts(auditLogTexts)
  const format = useFormat()
  const actorText = useActorText()
  const viaText = useViaText()
  const { seq, accountSeq, at, actor, object, outcome, requestId, address } = entry
  return [
    { label: texts.at, value: format.precise(at) },
    { label: texts.who, value: actorText(entry), hint: id(actor.id) },
    { label: texts.object, value: <ObjectName object={object} known={known} />, hint: id(object.id) },
    { label: texts.way, value: viaText(entry) },
    { label: texts.outcome, value: <Outcome outcome={outcome} /> },
    { label: texts.address, value: address ?? none },
    { label: texts.number, value: format.number(accountSeq) },
    ...(seq === undefined ? [] : [{ label: texts.numberOfAll, value: format.number(seq) }]),
    { label: texts.request, value: id(requestId) ?? none },
  ]
}

const id = (text: string | null): ReactNode => text && <Id text={text} />

/** The whole id, so that it can be copied and searched for elsewhere. */
function Id({ text }: { text: string }) {
  const texts = useTexts(uiTexts)
  return (
    <Group gap={4} wrap="nowrap">
      <Code style={{ overflowWrap: 'anywhere' }}>{text}</Code>
      <CopyButton value={text}>
        {({ copied, copy }) => (
          <ActionIcon
            size="sm"
            variant="subtle"
            color="gray"
            onClick={copy}
            aria-label={`${copied ? texts.copied : texts.copy}: ${text}`}
          >
            {copied ? <IconCheck size={14} aria-hidden /> : <IconCopy size={14} aria-hidden />}
          </ActionIcon>
        )}
      </CopyButton>
    </Group>
  )
}

/** The kind and name of an object. If the name is unknown, shows enough of the id to distinguish the object. */
export function ObjectName({ object: { type, id }, known }: { object: Entry['object']; known: KnownNames }) {
  const kind = objectText(useTexts(actionTexts), type)
  return id === null ? kind : `${kind}, ${known.get(id) ?? shortened(id)}`
}

/** Shortens a long id. Codes with a slash, such as a tariff's, are readable and stay whole. */
const shortened = (id: string): string => (id.length > 16 && !id.includes('/') ? `${id.slice(0, 8)}…` : id)

export function Outcome({ outcome }: { outcome: Entry['outcome'] }) {
  const texts = useTexts(auditLogTexts)
  return <Badge color={outcome === 'refused' ? 'red' : 'perk'}>{texts[outcome]}</Badge>
}

const anywhere = { overflowWrap: 'anywhere' } as const

function Changes({ changes }: { changes: readonly ShownChange[] }) {
  const texts = useTexts(auditLogTexts)
  return (
    <Table layout="fixed" aria-label={texts.change}>
      <Table.Thead>
        <Table.Tr>
          <Table.Th>{texts.field}</Table.Th>
          <Table.Th>{texts.before}</Table.Th>
          <Table.Th>{texts.after}</Table.Th>
        </Table.Tr>
      </Table.Thead>
      <Table.Tbody>
        {changes.map(({ field, before, after }) => (
          <Table.Tr key={field} style={{ verticalAlign: 'top' }}>
            <Table.Td style={anywhere}>{field}</Table.Td>
            <Table.Td style={anywhere}>{before}</Table.Td>
            <Table.Td style={anywhere}>{after}</Table.Td>
          </Table.Tr>
        ))}
      </Table.Tbody>
    </Table>
  )
}
