import { Alert, Button, Card, Group, List, Stack, Text, Title } from '@mantine/core'
import { IconSend } from '@tabler/icons-react'
import { useEffect, useRef, useState } from 'react'
import { isApiError, noAnswer } from '../../api/errors.ts'
import type { paths } from '../../api/schema/perkline.ts'
import { useFormat, usePreferences, useTexts } from '../../i18n/preferences.tsx'
import { errorText } from '../../ui/error-text.ts'
import { FileUpload, Sending } from '../../ui/file-upload.tsx'
import { KeyFacts } from '../../ui/key-facts.tsx'
import { useNotify } from '../../ui/notify.tsx'
import { Failure } from '../../ui/states.tsx'
import { uiTexts } from '../../ui/texts.ts'
import { useUpload } from '../../ui/use-upload.ts'
import { Count, Money } from '../../ui/values.tsx'
import type { Report } from '../types.ts'
import { differenceKinds } from './difference-search.ts'
import { maxReportBytes, useReportGuide } from './report-guide.ts'
import { reconciliationTexts } from './texts.ts'

type Tried =
  paths['/portal/cashbacks/{cashbackId}/bank-report']['post']['responses'][200]['content']['application/json']

type Props = {
  side: Report['side']
  /** The address for reports of this side. */
  path: string
  currency: string
  /** The name of the other side, which gets the report. */
  recipient: string
  hint: string
  /** Fields of the form besides the file. */
  fields?: Record<string, string>
  /** True while another field of the form is wrong. Then no report can be checked or sent. */
  isDisabled?: boolean
  /** The file that was chosen before the page was left or reloaded; it is checked again. */
  restored?: File | null
  /** Called with the chosen file, which is kept until it was sent; null: no file is chosen any more. */
  onChosen?: (file: File | null) => void
  /** Called after the report was sent, or its upload failed or was cancelled. Read the campaign again here. */
  onSettled(isSent: boolean): void
}

/**
 * Uploads a report in two steps: the first checks it and shows its totals and differences, the second sends it to the
 * other side.
 */
export function ReportUpload(props: Props) {
  const {
    side,
    path,
    currency,
    recipient,
    hint,
    fields = {},
    isDisabled = false,
    restored = null,
    onChosen,
    onSettled,
  } = props

  const texts = useTexts(reconciliationTexts)
  const notify = useNotify()
  const notifyRefused = useNotifyRefused()
  const guide = useReportGuide(side)
  const [file, setFile] = useState<File | null>(null)
  const [tried, setTried] = useState<Tried | null>(null)
  const trial = useUpload<Tried>(`${path}?dryRun=true`, { isTrial: true, onDone: setTried })
  const putAside = () => {
    onChosen?.(null)
    setTried(null)
  }
  // If no answer arrives, or the platform is busy, the person can send the same file again. After any other error the result of
  // the check may no longer be correct, so it is removed.
  const sending = useUpload<unknown>(path, {
    onCancel: putAside,
    onDone() {
      putAside()
      notify.done(texts.sent(recipient))
      onSettled(true)
    },
    onError(error) {
      if (!isApiError(error, noAnswer, 429, 503)) putAside()
      notifyRefused(error)
    },
  })
  const [latest, setLatest] = useState<'trial' | 'sending'>('trial')
  const choose = (chosen: File) => {
    setLatest('trial')
    setFile(chosen)
    setTried(null)
    onChosen?.(chosen)
    return trial.send(chosen, fields)
  }
  useOnce(restored, choose)
  const send = async (checked: File) => {
    setLatest('sending')
    const answer = await sending.send(checked, fields)
    if (answer === null) onSettled(false)
  }
  if (sending.isSending) return <Sending upload={sending} />
  if (tried && file)
    return (
      <Checked
        {...{ tried, currency, recipient, side, isDisabled }}
        fileName={file.name}
        error={latest === 'sending' ? sending.error : null}
        interrupted={sending.interrupted}
        onSend={() => void send(file)}
        onOther={putAside}
      />
    )
  const shown = latest === 'trial' ? { ...trial, interrupted: sending.interrupted } : sending
  return (
    <FileUpload
      upload={{ ...shown, send: choose }}
      hint={hint}
      guide={guide}
      maxBytes={maxReportBytes}
      isDisabled={isDisabled}
    />
  )
}

/**
 * Says why a report was refused if the reason is not the file, for example because a colleague has sent a report first. It
 * uses a notice, because the campaign is then read again, and the page may no longer contain the upload.
 */
function useNotifyRefused() {
  const texts = useTexts(reconciliationTexts)
  const ui = useTexts(uiTexts)
  const { language } = usePreferences()
  const notify = useNotify()
  return (error: unknown) => {
    if (isApiError(error, 400) && error.code === 'campaign-state') notify.refused(texts.notSentTooLate)
    else if (isApiError(error, 403, 404, 409)) notify.refused(texts.notSent(errorText(error, ui, language).text))
  }
}

/** Calls the handler with a file that was chosen before a reload. */
function useOnce(file: File | null, choose: (file: File) => unknown): void {
  const isDone = useRef(false)
  useEffect(() => {
    if (!file || isDone.current) return
    isDone.current = true
    choose(file)
  })
}

type CheckedGiven = Pick<Props, 'side' | 'currency' | 'recipient'> & {
  isDisabled: boolean
  tried: Tried
  fileName: string
  /** Why the last attempt to send the file failed; null: there was no failure. */
  error: unknown
  /** The name of a file whose upload was interrupted; null: none. */
  interrupted: string | null
  onSend(): void
  onOther(): void
}

function Checked(given: CheckedGiven) {
  const { tried, fileName, error, interrupted, currency, recipient, side, isDisabled, onSend, onOther } = given
  const texts = useTexts(reconciliationTexts)
  const { upload } = useTexts(uiTexts)
  const format = useFormat()
  const { lines, totalAmount, totalCashback, differences } = tried
  const title = useRef<HTMLHeadingElement>(null)
  useEffect(() => title.current?.focus(), [])
  const kinds = differenceKinds.filter(kind => differences.byKind[kind] > 0)
  const facts = [
    { label: texts.lines, value: <Count value={lines} /> },
    { label: texts.amount, value: <Money amount={totalAmount} currency={currency} /> },
    {
      label: texts.cashback,
      value: <Money amount={side === 'merchant' && totalCashback === 0 ? null : totalCashback} currency={currency} />,
    },
    { label: texts.differences, value: <Count value={differences.total} /> },
  ]
  return (
    <Card component="section" aria-label={texts.checkedTitle}>
      <Stack gap="md">
        <div>
          <Title order={3} tabIndex={-1} ref={title} style={{ outline: 'none' }}>
            {texts.checkedTitle}
          </Title>
          <Text size="sm" c="dimmed" style={{ overflowWrap: 'anywhere' }}>
            {fileName}
          </Text>
        </div>
        <KeyFacts facts={facts} />
        <Alert
          color={differences.total === 0 ? 'perk' : 'orange'}
          title={differences.total === 0 ? texts.checkedClean : texts.checkedDifferences(differences.total)}
        >
          {kinds.length > 0 && (
            <List size="sm">
              {kinds.map(kind => (
                <List.Item key={kind}>{`${texts.kinds[kind]}: ${format.number(differences.byKind[kind])}`}</List.Item>
              ))}
            </List>
          )}
        </Alert>
        {interrupted !== null && <Alert color="orange">{upload.interrupted(interrupted)}</Alert>}
        {error !== null && <Failure error={error} />}
        <Text>{side === 'bank' ? texts.passesToMerchant(recipient) : texts.passesToBank(recipient)}</Text>
        <Group gap="sm">
          <Button leftSection={<IconSend size={16} aria-hidden />} disabled={isDisabled} onClick={onSend}>
            {texts.send(recipient)}
          </Button>
          <Button variant="default" onClick={onOther}>
            {texts.otherFile}
          </Button>
        </Group>
      </Stack>
    </Card>
  )
}
