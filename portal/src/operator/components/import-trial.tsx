import { Alert, Button, Group, List, Stack } from '@mantine/core'
import { IconDownload } from '@tabler/icons-react'
import { saveText } from '../../api/download.ts'
import { useFormat, useTexts } from '../../i18n/preferences.tsx'
import type { Imported, Reject } from '../stock-import.ts'
import { operatorTexts } from '../texts.ts'

/** What to import after the trial: the whole file, or only its valid lines. */
export type Load = 'all' | 'valid'

/** The result of a trial import. From here the person starts the real import, or chooses another file. */
export function Trial(props: {
  tried: Imported
  fileName: string
  onLoad: (which: Load) => void
  onOther: () => void
}) {
  const { tried, fileName, onLoad, onOther } = props
  const { stock: texts } = useTexts(operatorTexts)
  const format = useFormat()
  const { imported, duplicates, rejected } = tried
  const isGood = rejected === 0
  const hasProfiles = imported > 0 || duplicates > 0 || !isGood
  return (
    <Stack gap="md" role="status">
      {!isGood && <Rejected tried={tried} />}
      <Alert
        color={isGood && imported > 0 ? 'perk' : 'gray'}
        title={hasProfiles ? texts.tried(imported, format.number(duplicates)) : texts.noProfiles}
      >
        {fileName}
        <Duplicates tried={tried} />
      </Alert>
      <Group>
        {isGood && imported > 0 && <Button onClick={() => onLoad('all')}>{texts.load(imported)}</Button>}
        <Button variant="default" onClick={onOther}>
          {texts.other}
        </Button>
        {!isGood && imported > 0 && (
          <Button variant="light" color="orange" onClick={() => onLoad('valid')}>
            {texts.loadValid(imported)}
          </Button>
        )}
      </Group>
    </Stack>
  )
}

function Duplicates({ tried: { duplicates, duplicateLines = [] } }: { tried: Imported }) {
  const { stock: texts } = useTexts(operatorTexts)
  const format = useFormat()
  if (duplicateLines.length === 0) return null
  const numbersOf = (lines: typeof duplicateLines) => lines.map(({ lineNumber }) => format.number(lineNumber))
  const others = duplicateLines.filter(({ otherActivationCode }) => otherActivationCode)
  return (
    <List size="sm" mt="xs">
      <List.Item>
        {texts.duplicateLines(texts.linesNamed(numbersOf(duplicateLines), duplicates - duplicateLines.length))}
      </List.Item>
      {others.length > 0 && <List.Item>{texts.otherCodes(texts.linesNamed(numbersOf(others), 0))}</List.Item>}
    </List>
  )
}

/** The lines with errors that made an import fail, although its trial had no errors. */
export function Refused({ refused, fileName }: { refused: Imported; fileName: string | null }) {
  const { stock: texts } = useTexts(operatorTexts)
  return (
    <Alert color="red" title={texts.refused} role="alert" mb="md">
      {texts.refusedText}
      <List size="sm" mt="xs">
        {fileName !== null && <List.Item>{fileName}</List.Item>}
        <RejectedLines tried={refused} />
      </List>
    </Alert>
  )
}

function Rejected({ tried }: { tried: Imported }) {
  const { stock: texts } = useTexts(operatorTexts)
  const textOf = useRejectText()
  const { imported, rejected, rejects } = tried
  const save = () => {
    const rows = rejects.map(reject => [String(reject.lineNumber), reject.column, textOf(reject)])
    saveText('rejects.csv', csvOf([['line', 'column', 'reason'], ...rows]))
  }
  return (
    <Alert color="red" title={texts.errors(rejected)}>
      {imported > 0 && texts.errorsText}
      <List size="sm" mt="xs">
        <RejectedLines tried={tried} />
      </List>
      <Button
        size="compact-sm"
        variant="subtle"
        mt="xs"
        leftSection={<IconDownload size={16} aria-hidden />}
        onClick={save}
      >
        {texts.saveErrors(rejects.length)}
      </Button>
    </Alert>
  )
}

const maxShown = 20

function RejectedLines({ tried: { rejected, rejects } }: { tried: Imported }) {
  const { stock: texts } = useTexts(operatorTexts)
  const format = useFormat()
  const textOf = useRejectText()
  const shown = rejects.slice(0, maxShown)
  return (
    <>
      {shown.map(reject => (
        <List.Item key={reject.lineNumber}>
          {reject.column === 'line'
            ? texts.lineError(format.number(reject.lineNumber), textOf(reject))
            : texts.error(format.number(reject.lineNumber), reject.column, textOf(reject))}
        </List.Item>
      ))}
      {rejected > shown.length && <List.Item>{texts.moreErrors(rejected - shown.length)}</List.Item>}
    </>
  )
}

function useRejectText(): (reject: Reject) => string {
  const { stock: texts } = useTexts(operatorTexts)
  const rules: Record<string, string> = texts.rules
  return ({ rule, reason }) => rules[rule] ?? reason
}

/** A CSV that spreadsheets read as UTF-8, because it has a byte-order mark. */
const csvOf = (rows: readonly (readonly string[])[]): string =>
  `\ufeff${rows.map(cells => `${cells.map(cell => `"${cell.replaceAll('"', '""')}"`).join(',')}\r\n`).join('')}`
