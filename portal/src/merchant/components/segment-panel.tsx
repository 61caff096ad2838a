import { Alert, Card, Code, Stack, Text, Title } from '@mantine/core'
import { IconInfoCircle } from '@tabler/icons-react'
import { useQuery } from '@tanstack/react-query'
import { useRef, useState } from 'react'
import { ifMatch } from '../../api/client.ts'
import { ApiError } from '../../api/errors.ts'
import { useShowStale } from '../../campaigns/detail/stale.tsx'
import { segmentQuery } from '../../campaigns/queries.ts'
import type { CampaignDetails, Segment } from '../../campaigns/types.ts'
import { useFormat, useTexts } from '../../i18n/preferences.tsx'
import { useNow } from '../../session/use-now.ts'
import { useMayChange } from '../../session/use-session.ts'
import { useConfirm } from '../../ui/confirm.tsx'
import { DataTable } from '../../ui/data-table/data-table.tsx'
import { FileUpload } from '../../ui/file-upload.tsx'
import { KeyFacts } from '../../ui/key-facts.tsx'
import { useNotify } from '../../ui/notify.tsx'
import { Loaded } from '../../ui/states.tsx'
import { useUpload } from '../../ui/use-upload.ts'
import { Count, ExactTime } from '../../ui/values.tsx'
import { campaignPageTexts } from '../campaign-texts.ts'
import { useCampaignChanged } from '../queries.ts'
import { readSegmentFile } from '../segment-file.ts'

type Malformed = { count: number; lines: number[] }
type Formed = { notTaken: { malformed: Malformed } }

const maxBytes = 256 * 1024 * 1024
const guide = (customerId: string) => ({
  columns: { customerId },
  template: { fileName: 'segment-template.csv', rows: [['C-000001'], ['C-000002']] },
})

/** The campaign's segment by bank, and the upload that replaces it. */
export function SegmentPanel({ campaign }: { campaign: CampaignDetails }) {
  const { segment: texts } = useTexts(campaignPageTexts)
  const query = useQuery(segmentQuery(campaign.cashbackId))
  const mayChange = useMayChange()
  return (
    <Stack gap="lg">
      <Text c="dimmed">{texts.lead}</Text>
      <Loaded query={query}>
        {segment => (
          <>
            <SegmentFacts segment={segment} />
            {segment.formedAt !== null && segment.customersCount === 0 && <Alert color="orange">{texts.tooFew}</Alert>}
            {segment.formedAt !== null && (
              <Text size="sm" c="dimmed">
                {texts.rounded}
              </Text>
            )}
            {segment.formedAt !== null && (
              <DataTable
                label={texts.title}
                query={query}
                rows={segment.banks}
                rowKey={({ id }) => id}
                columns={[
                  { key: 'bank', title: texts.bank, cell: ({ name }) => <b>{name}</b> },
                  {
                    key: 'customers',
                    title: texts.customers,
                    align: 'right',
                    cell: bank => <Count value={bank.formedAt === null ? null : bank.customersCount} />,
                  },
                ]}
              />
            )}
            {mayChange && <SegmentUpload campaign={campaign} isFirst={segment.formedAt === null} />}
          </>
        )}
      </Loaded>
    </Stack>
  )
}

function SegmentFacts({ segment }: { segment: Segment }) {
  const { segment: texts } = useTexts(campaignPageTexts)
  if (segment.formedAt === null)
    return (
      <Card>
        <Text>{texts.none}</Text>
      </Card>
    )
  return (
    <Card>
      <KeyFacts
        columns={3}
        facts={[
          { label: texts.customers, value: <Count value={segment.customersCount} /> },
          { label: texts.formed, value: <ExactTime at={segment.formedAt} /> },
          { label: texts.file, value: segment.sourceFileName },
        ]}
      />
    </Card>
  )
}

const whileOpen = ['awaitingBankApproval', 'awaitingMerchantApproval', 'approved', 'active']

/** Why the chosen file was not taken: an error of the platform, or a text. It is about one file, so the next file removes it. */
type Refusal = { error: unknown; text: string | null }
const noRefusal: Refusal = { error: null, text: null }

/** The platform's own error about line 1, before the file is sent. */
function headerError(rule: 'header' | 'utf8'): ApiError {
  const params = rule === 'header' ? { columns: 'customerId' } : {}
  return new ApiError(400, [], null, { problems: [{ line: 1, column: null, rule, params, value: null }] })
}

function SegmentUpload({ campaign, isFirst }: { campaign: CampaignDetails; isFirst: boolean }) {
  const { segment: texts } = useTexts(campaignPageTexts)
  const { cashbackId, status, dateTo } = campaign
  const now = useNow()
  const notify = useNotify()
  const showStale = useShowStale()
  const changed = useCampaignChanged()
  const [malformed, setMalformed] = useState<Malformed | null>(null)
  const [refusal, setRefusal] = useState<Refusal>(noRefusal)
  // The version of the campaign when the confirmation was opened. A newer version may be loaded while the confirmation
  // is open.
  const asked = useRef(campaign)
  const upload = useUpload<Formed>(`/portal/cashbacks/${cashbackId}/segment`, {
    method: 'PUT',
    async onError(error) {
      setRefusal({ ...noRefusal, error })
      await showStale(error, asked.current)
      // If the upload succeeded but its answer got lost, the campaign has a new version, which the next try must send.
      void changed(cashbackId)
    },
    onCancel: () => void changed(cashbackId),
    onDone(formed) {
      notify.done(texts.done)
      setMalformed(formed.notTaken.malformed.count > 0 ? formed.notTaken.malformed : null)
      void changed(cashbackId)
    },
  })
  const question = useQuestion(isFirst)
  const [fileName, setFileName] = useState<string | null>(null)
  const ask = async (file: File) => {
    setRefusal(noRefusal)
    asked.current = campaign
    setFileName(file.name)
    const read = await readSegmentFile(file).catch(() => null)
    if (read === null) setRefusal({ ...noRefusal, text: texts.unreadable(file.name) })
    else if (read.count === 0) setRefusal({ ...noRefusal, text: texts.noIds(file.name) })
    else if (read.brokenRule !== null) setRefusal({ ...noRefusal, error: headerError(read.brokenRule) })
    else if (await question(file.name, read.count)) await upload.send(file, {}, ifMatch(campaign.etag))
  }
  if (!whileOpen.includes(status) || Date.parse(dateTo) <= now.getTime()) return <Text c="dimmed">{texts.over}</Text>
  return (
    <Card component="section">
      <Title order={2} mb={4}>
        {isFirst ? texts.upload : texts.replace}
      </Title>
      <Text size="sm" c="dimmed" mb="md">
        {isFirst ? texts.firstText : texts.replaceText}
      </Text>
      <FileUpload
        upload={{ ...upload, fileName, error: refusal.error, send: ask }}
        onRefused={() => setRefusal(noRefusal)}
        hint={texts.hint}
        maxBytes={maxBytes}
        guide={guide(texts.column)}
      />
      {refusal.text !== null && (
        <Alert color="red" mt="md" role="alert">
          {refusal.text}
        </Alert>
      )}
      {malformed && <MalformedNotice malformed={malformed} />}
    </Card>
  )
}

/**
 * Asks for confirmation before a file becomes the segment, because afterwards the campaign can never be for all
 * customers again.
 */
function useQuestion(isFirst: boolean) {
  const { segment: texts } = useTexts(campaignPageTexts)
  const confirm = useConfirm()
  return (fileName: string, count: number) =>
    confirm({
      title: texts.askTitle(fileName),
      text: (isFirst ? texts.askFirst : texts.askReplace)(count),
      action: texts.askAction,
      isDangerous: isFirst,
    })
}

function MalformedNotice({ malformed: { count, lines } }: { malformed: Malformed }) {
  const { segment: texts } = useTexts(campaignPageTexts)
  const format = useFormat()
  return (
    <Alert color="orange" icon={<IconInfoCircle />} title={texts.malformed(count)} mt="md" role="status">
      <Stack gap="xs" align="flex-start">
        <Text size="sm">{texts.malformedWhy}</Text>
        {count > lines.length && <Text size="sm">{texts.malformedShown(format.number(lines.length))}</Text>}
        <Code block mah={160} tabIndex={0} style={{ overflow: 'auto', alignSelf: 'stretch' }}>
          {lines.join(', ')}
        </Code>
      </Stack>
    </Alert>
  )
}
