import { Alert, Badge, Button, Group, Progress, Stack, Text } from '@mantine/core'
import { IconAlertTriangle, IconCircleCheck } from '@tabler/icons-react'
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { useFormat, usePreferences, useTexts } from '../../i18n/preferences.tsx'
import { DataTable } from '../../ui/data-table/data-table.tsx'
import { PageHeader } from '../../ui/page-header.tsx'
import { Failure, Loaded } from '../../ui/states.tsx'
import { checkText } from '../audit-texts.ts'
import { type Audit, type Audits, auditsQuery, runAudit } from '../queries.ts'
import { operatorTexts } from '../texts.ts'

/** The last audit: each check and its findings. The person can run a new audit, or continue an interrupted one. */
export function AuditPage() {
  const { audit: texts } = useTexts(operatorTexts)
  const client = useQueryClient()
  const query = useQuery(auditsQuery)
  const look = () => client.invalidateQueries({ queryKey: auditsQuery.queryKey })
  const run = useMutation({ mutationFn: runAudit, onSettled: look })
  const start = (resume: boolean) => {
    run.mutate({ resume })
    // The request to run an audit is answered only when the audit has ended. To show the progress of the running audit,
    // we read its state after half a second.
    setTimeout(() => void look(), 500)
  }
  const unfinished = query.data?.unfinished
  const isBusy = run.isPending || query.isFetching || unfinished?.running === true
  return (
    <>
      <PageHeader
        title={texts.title}
        lead={texts.lead}
        actions={
          <Group>
            {unfinished && !unfinished.running && (
              <Button variant="default" disabled={isBusy} onClick={() => start(true)}>
                {texts.resume(unfinished.percent)}
              </Button>
            )}
            <Button variant="default" loading={isBusy} onClick={() => start(false)}>
              {texts.again}
            </Button>
          </Group>
        }
      />
      {run.error && <Failure error={run.error} />}
      {unfinished?.running && <Running percent={unfinished.percent} />}
      <Loaded query={query}>{({ last }) => last && <Result audit={last} query={query} />}</Loaded>
    </>
  )
}

function Running({ percent }: { percent: number }) {
  const { audit: texts } = useTexts(operatorTexts)
  return (
    <Stack gap="xs" mb="lg">
      <Text>{texts.running(percent)}</Text>
      <Progress value={percent} aria-label={texts.title} />
    </Stack>
  )
}

function Result({ audit, query }: { audit: Audit; query: ReturnType<typeof useQuery<Audits>> }) {
  const { audit: texts } = useTexts(operatorTexts)
  const format = useFormat()
  const checkedAt = texts.checkedAt(format.dateTime(audit.finishedAt))
  return (
    <Stack gap="lg">
      {audit.ok ? (
        <Alert color="perk" icon={<IconCircleCheck />} title={texts.right}>
          {checkedAt}
        </Alert>
      ) : (
        <Alert color="red" icon={<IconAlertTriangle />} title={texts.wrong}>
          {texts.wrongText} {checkedAt}
        </Alert>
      )}
      <Checks audit={audit} query={query} />
    </Stack>
  )
}

function Checks({ audit, query }: { audit: Audit; query: ReturnType<typeof useQuery<Audits>> }) {
  const { audit: texts } = useTexts(operatorTexts)
  const { language } = usePreferences()
  const format = useFormat()
  return (
    <DataTable
      label={texts.title}
      query={query}
      // Failed checks come first.
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
