import { Alert, Button, Card, Group, Stack, Text, Title } from '@mantine/core'
import { useMutation, useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { readText } from '../../api/read-text.ts'
import { useFormat, useTexts } from '../../i18n/preferences.tsx'
import { useMayChange } from '../../session/use-session.ts'
import { DataTable } from '../../ui/data-table/data-table.tsx'
import { FileUpload } from '../../ui/file-upload.tsx'
import { useNotify } from '../../ui/notify.tsx'
import { SearchInput } from '../../ui/search-input.tsx'
import { Empty, Failure } from '../../ui/states.tsx'
import { none } from '../../ui/values.tsx'
import { applyEntry, type Change, terminalsQuery, useOperatorChanged } from '../queries.ts'
import { operatorTexts } from '../texts.ts'

/** A merchant's terminals in the platform's directory: searched here, and replaced by a file. */
export function Terminals({ code }: { code: string }) {
  const { partners: texts } = useTexts(operatorTexts)
  const mayChange = useMayChange()
  const [search, setSearch] = useState<string>()
  const [page, setPage] = useState(1)
  const query = useQuery(terminalsQuery(code, { search, page }))
  return (
    <Stack component="section" gap="md" aria-label={texts.terminals}>
      <Title order={2}>{texts.terminals}</Title>
      <Group>
        <SearchInput
          label={texts.terminalsFind}
          value={search}
          onChange={words => {
            setSearch(words)
            setPage(1)
          }}
        />
      </Group>
      <DataTable
        label={texts.terminals}
        query={query}
        rows={query.data?.data}
        rowKey={({ terminalId }) => terminalId}
        {...(query.data && { paging: query.data.pagination })}
        onSearch={change => setPage(change.page ?? 1)}
        empty={<Empty title={texts.terminalsNone} />}
        columns={[
          { key: 'terminalId', title: texts.terminal, cell: ({ terminalId }) => <b>{terminalId}</b> },
          { key: 'name', title: texts.name, cell: ({ name }) => name ?? none },
          { key: 'location', title: texts.location, cell: ({ location }) => location ?? none },
        ]}
      />
      {mayChange && <ReplaceTerminals code={code} />}
    </Stack>
  )
}

const fileName = 'terminals.csv'
const maxBytes = 32 * 1024 * 1024
const template = {
  fileName,
  rows: [['T-0001', 'Shop 1', 'Kyiv Main St 1', 'M-77', 'GROCER']],
}

/** Replaces the terminals in two steps: a trial shows the changes, and the person then applies them. */
function ReplaceTerminals({ code }: { code: string }) {
  const { partners: texts } = useTexts(operatorTexts)
  const notify = useNotify()
  const changed = useOperatorChanged()
  const apply = ({ csv, dryRun }: { csv: string; dryRun: boolean }) =>
    applyEntry({ merchants: [{ code, terminalsFile: fileName }] }, { dryRun, files: { [fileName]: csv } })
  const trial = useMutation({
    mutationFn: async (file: File) => {
      const csv = await readText(file)
      return { csv, fileName: file.name, ...(await apply({ csv, dryRun: true })) }
    },
  })
  const replace = useMutation({
    mutationFn: (csv: string) => apply({ csv, dryRun: false }),
    async onSuccess() {
      notify.done(texts.terminalsSaved)
      trial.reset()
      await changed()
    },
  })
  const upload = {
    fileName: trial.variables?.name ?? null,
    share: 1,
    isSending: trial.isPending,
    error: trial.error,
    wasCancelled: false,
    send: (file: File) => {
      replace.reset()
      trial.mutate(file)
      return Promise.resolve(null)
    },
    cancel: () => trial.reset(),
  }
  return (
    <Card>
      <Title order={3} mb={4}>
        {texts.terminalsReplace}
      </Title>
      <Text size="sm" c="dimmed" mb="md">
        {texts.terminalsHint}
      </Text>
      {trial.data ? (
        <Tried
          tried={trial.data}
          replace={replace}
          onOther={() => {
            trial.reset()
            replace.reset()
          }}
        />
      ) : (
        <FileUpload
          upload={upload}
          hint={texts.terminalsFile}
          maxBytes={maxBytes}
          guide={{ columns: texts.terminalColumns, template }}
        />
      )}
    </Card>
  )
}

function Tried(props: {
  tried: { csv: string; fileName: string; changes: Change[] }
  replace: { mutate(csv: string): void; isPending: boolean; error: unknown }
  onOther: () => void
}) {
  const { tried, replace, onOther } = props
  const { partners: texts } = useTexts(operatorTexts)
  const format = useFormat()
  const change = tried.changes[0]?.fields.terminals
  const numbers = change && !Array.isArray(change) ? change : null
  return (
    <Stack gap="md" role="status">
      <Alert color={numbers ? 'perk' : 'gray'} title={numbers ? texts.terminalsTried : texts.terminalsSame}>
        {numbers
          ? texts.terminalsChange(
              format.number(numbers.added),
              format.number(numbers.removed),
              format.number(numbers.changed),
            )
          : tried.fileName}
      </Alert>
      {replace.error !== null && <Failure error={replace.error} />}
      <Group>
        {numbers && (
          <Button loading={replace.isPending} onClick={() => replace.mutate(tried.csv)}>
            {texts.apply}
          </Button>
        )}
        <Button variant="default" onClick={onOther}>
          {texts.otherFile}
        </Button>
      </Group>
    </Stack>
  )
}
