import '@mantine/dropzone/styles.layer.css'
import { Alert, Button, Group, List, Progress, Stack, Text } from '@mantine/core'
import { Dropzone } from '@mantine/dropzone'
import { IconAlertTriangle, IconFileSpreadsheet } from '@tabler/icons-react'
import { type ComponentProps, useState } from 'react'
import { ApiError } from '../api/errors.ts'
import { useFormat, usePreferences, useTexts } from '../i18n/preferences.tsx'
import { errorText } from './error-text.ts'
import { FileGuide, type Guide } from './file-guide.tsx'
import classes from './file-upload.module.css'
import { uiTexts } from './texts.ts'
import type { Upload } from './use-upload.ts'

const accept = { csv: { 'text/csv': ['.csv'], 'text/plain': ['.csv', '.txt'], 'application/vnd.ms-excel': ['.csv'] } }

type Rejections = Parameters<NonNullable<ComponentProps<typeof Dropzone>['onReject']>>[0]

/** The state of an upload. If only the browser reads the file, the fields about sending are missing. */
type ShownUpload<Data> = Omit<Upload<Data>, OfSending> & Partial<Pick<Upload<Data>, OfSending>>
type OfSending = 'canCancel' | 'interrupted' | 'isTrial'

/**
 * A place to drop or choose a file. During the upload it shows the progress and a way to cancel; afterwards, the errors
 * of the file, line by line.
 *
 * @param props.upload the result of `useUpload`, which knows where to send the file
 * @param props.hint one sentence about the content of the file
 * @param props.guide explains the columns and offers a template to download
 * @param props.maxBytes the maximum size that the platform accepts
 */
export function FileUpload<Data>(props: {
  upload: ShownUpload<Data>
  hint: string
  maxBytes: number
  guide?: Guide
  isDisabled?: boolean
  /** Shown in place of "choose a file" while the upload is disabled: what to do first. */
  whyDisabled?: string
  /** Called when the browser refuses a file before it is read, so what the page says about the file before is old. */
  onRefused?: () => void
}) {
  const { upload, hint, maxBytes, guide, isDisabled = false } = props
  const texts = useTexts(uiTexts)
  const format = useFormat()
  const [refusal, setRefusal] = useState<string | null>(null)

  const whyRefused = ({ file, errors }: Rejections[number]) => {
    const isTooLarge = errors.some(({ code }) => code === 'file-too-large')
    return `${file.name}: ${isTooLarge ? texts.upload.tooLarge(format.bytes(maxBytes)) : texts.upload.wrongType}`
  }
  // If the person drops several files, none is sent. Otherwise they may believe that all files were sent.
  const take = (files: readonly File[], refused: Rejections) => {
    const [[file], [rejection]] = [files, refused]
    const isOne = files.length + refused.length === 1
    setRefusal((isOne ? rejection && whyRefused(rejection) : texts.upload.one) ?? null)
    if (isOne && file) upload.send(file)
    else props.onRefused?.()
  }
  if (upload.isSending) return <Sending upload={upload} />
  return (
    <Stack gap="sm">
      <Dropzone
        accept={accept.csv}
        multiple={false}
        maxSize={maxBytes}
        disabled={isDisabled}
        className={classes.zone ?? ''}
        role="button"
        aria-disabled={isDisabled}
        // Screen readers see one button only, not also the browser's own file input.
        inputProps={{ 'aria-label': texts.upload.choose, style: { display: 'none' } }}
        onDrop={() => {}}
        onDropAny={take}
      >
        <Group gap="md" wrap="nowrap" mih={72}>
          <IconFileSpreadsheet size={32} stroke={1.4} style={{ flex: 'none' }} aria-hidden />
          <div>
            <Text fw={600}>{(isDisabled && props.whyDisabled) || texts.upload.choose}</Text>
            <Text size="sm" c="dimmed">
              {hint}
            </Text>
          </div>
        </Group>
      </Dropzone>
      {guide && <FileGuide guide={guide} />}
      {refusal && <Alert color="red">{refusal}</Alert>}
      {upload.interrupted && <Alert color="orange">{texts.upload.interrupted(upload.interrupted)}</Alert>}
      {upload.wasCancelled && (
        <Alert color="gray">{upload.isTrial === false ? texts.upload.cancelledOnTheWay : texts.upload.cancelled}</Alert>
      )}
      {/* If the browser refuses a new file, the errors of the previous file are hidden. */}
      {refusal === null && upload.error !== null && <UploadErrors error={upload.error} fileName={upload.fileName} />}
    </Stack>
  )
}

/** The progress of an upload, with a way to cancel while nothing can have been stored yet. */
export function Sending<Data>({ upload }: { upload: ShownUpload<Data> }) {
  const texts = useTexts(uiTexts)
  const format = useFormat()
  const percent = Math.floor(upload.share * 100)
  const isSent = upload.share === 1
  return (
    <Stack gap="xs" p="md">
      <Group justify="space-between">
        <Text size="sm" fw={600}>
          {upload.fileName}
        </Text>
        {upload.canCancel && (
          <Button size="xs" variant="default" onClick={upload.cancel}>
            {texts.cancel}
          </Button>
        )}
      </Group>
      <Progress value={percent} animated={isSent} aria-label={upload.fileName ?? texts.loading} />
      <Text size="sm" c="dimmed" role="status">
        {!isSent && texts.upload.sending(format.percent(percent))}
        {isSent && (upload.canCancel ? texts.upload.processing : texts.upload.taking)}
      </Text>
    </Stack>
  )
}

/** Why an upload failed: the errors of its file by line, or the platform's message. */
function UploadErrors({ error, fileName = null }: { error: unknown; fileName?: string | null }) {
  const texts = useTexts(uiTexts)
  const format = useFormat()
  const { language } = usePreferences()
  const { title, text, details } = errorText(error, texts, language)
  const [shown, all] = error instanceof ApiError ? [error.problems.length, error.problemCount] : [0, 0]
  const isOfFile = details.length > 0 && !(error instanceof ApiError && error.code === 'campaign-state')
  return (
    <Alert color="red" icon={<IconAlertTriangle />} title={isOfFile ? texts.upload.lineErrors : title}>
      {fileName !== null && (
        <Text size="sm" fw={600}>
          {fileName}
        </Text>
      )}
      {details.length === 0 ? (
        text
      ) : (
        <List size="sm">
          {details.map(line => (
            <List.Item key={line}>{line}</List.Item>
          ))}
        </List>
      )}
      {all > shown && (
        <Text size="sm" mt="xs">
          {texts.upload.firstOf(format.number(shown), format.number(all))}
        </Text>
      )}
    </Alert>
  )
}
