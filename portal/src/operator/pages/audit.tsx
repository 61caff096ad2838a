import { Alert, Badge, Button, Stack } from '@mantine/core'
import { IconAlertTriangle, IconCircleCheck } from '@tabler/icons-react'
import { useQuery } from '@tanstack/react-query'
import { useFormat, usePreferences, useTexts } from '../../i18n/preferences.tsx'
import { DataTable } from '../../ui/data-table/data-table.tsx'
import { PageHeader } from '../../ui/page-header.tsx'
import { Loaded } from '../../ui/states.tsx'
import { checkText } from '../audit-texts.ts'
import { type Audit, auditQuery } from '../queries.ts'
import { operatorTexts } from '../texts.ts'

/** The books, proven anew: each check and what it found. */
export function AuditPage() {
  const { audit: texts } = useTexts(operatorTexts)
  const query = useQuery(auditQuery)
  return (
    <>
      <PageHeader
        title={texts.title}
        lead={texts.lead}
        actions={
          <Button variant="default" loading={query.isFetching} onClick={() => void query.refetch()}>
            {texts.again}
          </Button>
        }
      />
      <Loaded query={query}>
        {audit => (
          <Stack gap="lg">
            {audit.ok ? (
              <Alert color="perk" icon={<IconCircleCheck />} title={texts.right} />
            ) : (
              <Alert color="red" icon={<IconAlertTriangle />} title={texts.wrong}>
                {texts.wrongText}
              </Alert>
            )}
            <Checks audit={audit} query={query} />
          </Stack>
        )}
      </Loaded>
    </>
  )
}

function Checks({ audit, query }: { audit: Audit; query: ReturnType<typeof useQuery<Audit>> }) {
  const { audit: texts } = useTexts(operatorTexts)
  const { language } = usePreferences()
  const format = useFormat()
  return (
    <DataTable
      label={texts.title}
      query={query}
      // What does not hold comes first.
      rows={[...audit.checks].sort((one, other) => Number(one.ok) - Number(other.ok))}
      rowKey={({ code }) => code}
      columns={[
        { key: 'name', title: texts.check, cell: check => checkText(check, language, format.number).name },
        {
          key: 'ok',
          title: texts.result,
          cell: ({ ok }) => <Badge color={ok ? 'perk' : 'red'}>{ok ? texts.holds : texts.broken}</Badge>,
        },
        { key: 'detail', title: texts.detail, cell: check => checkText(check, language, format.number).detail },
      ]}
    />
  )
}
