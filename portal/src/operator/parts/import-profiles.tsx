import { Alert, Button, Card, Group, List, Stack, Text, Title } from '@mantine/core'
import { useState } from 'react'
import { useFormat, useTexts } from '../../i18n/preferences.tsx'
import { FileUpload } from '../../ui/file-upload.tsx'
import { useNotify } from '../../ui/notify.tsx'
import { useUpload } from '../../ui/use-upload.ts'
import { type StockLine, useOperatorChanged } from '../queries.ts'
import { operatorTexts } from '../texts.ts'

type Reject = { lineNumber: number; column: string; reason: string }
type Imported = { imported: number; duplicates: number; rejected: number; rejects: Reject[] }

const mostBytes = 1024 * 1024 * 1024
const mostShown = 20

/** The answer is a line for each faulty line of the file, and then the result. */
function readImport(text: string): Imported {
  const rejects: Reject[] = []
  let result = { imported: 0, duplicates: 0, rejected: 0 }
  for (const line of text.split('\n').filter(Boolean)) {
    const told = JSON.parse(line) as { reject?: Reject; result?: typeof result }
    if (told.reject && rejects.length < mostShown) rejects.push(told.reject)
    if (told.result) result = told.result
  }
  return { ...result, rejects }
}

/** A stock file is tried first; what it would do is shown, and it is loaded when somebody agrees. */
export function ImportProfiles({ line: { operatorCode, tariffCode } }: { line: StockLine }) {
  const { stock: texts } = useTexts(operatorTexts)
  const notify = useNotify()
  const changed = useOperatorChanged()
  const [file, setFile] = useState<File | null>(null)
  const [tried, setTried] = useState<Imported | null>(null)
  const [isLoading, setIsLoading] = useState(false)
  const query = new URLSearchParams({ operator: operatorCode, tariff: tariffCode })
  const start = () => {
    setFile(null)
    setTried(null)
    setIsLoading(false)
  }
  // Every faulty line is to be seen in the trial, so it passes over them; the real import does not.
  const trial = useUpload<Imported>(`/admin/profiles?${query}&dryRun=true&skipInvalid=true`, {
    asForm: false,
    read: readImport,
    onDone: setTried,
  })
  const load = useUpload<Imported>(`/admin/profiles?${query}`, {
    asForm: false,
    read: readImport,
    onDone({ imported }) {
      notify.done(texts.loaded(imported))
      start()
      void changed()
    },
  })
  // When loading has failed, what went wrong stays in sight, and the next file is tried first again.
  const choose = {
    ...(isLoading ? load : trial),
    send(chosen: File) {
      start()
      setFile(chosen)
      return trial.send(chosen)
    },
  }
  const loadTried = (chosen: File) => {
    setIsLoading(true)
    void load.send(chosen)
  }
  return (
    <Card component="section">
      <Title order={2} mb={4}>
        {texts.import}
      </Title>
      <Text size="sm" c="dimmed" mb="md">
        {texts.importText}
      </Text>
      {tried && file && !isLoading ? (
        <Trial tried={tried} fileName={file.name} onLoad={() => loadTried(file)} onOther={start} />
      ) : (
        <FileUpload upload={choose} hint={texts.importHint} mostBytes={mostBytes} />
      )}
    </Card>
  )
}

function Trial(props: { tried: Imported; fileName: string; onLoad: () => void; onOther: () => void }) {
  const { tried, fileName, onLoad, onOther } = props
  const { stock: texts } = useTexts(operatorTexts)
  const format = useFormat()
  const { imported, duplicates, rejected, rejects } = tried
  const isGood = rejected === 0
  return (
    <Stack gap="md" role="status">
      <Alert
        color={isGood ? 'perk' : 'red'}
        title={isGood ? texts.tried(imported, format.number(duplicates)) : texts.faults(format.number(rejected))}
      >
        {fileName}
        {!isGood && (
          <List size="sm" mt="xs">
            {rejects.map(({ lineNumber, column, reason }) => (
              <List.Item key={`${lineNumber} ${column} ${reason}`}>
                {column === 'line'
                  ? texts.lineFault(format.number(lineNumber), reason)
                  : texts.fault(format.number(lineNumber), column, reason)}
              </List.Item>
            ))}
            {rejected > rejects.length && <List.Item>{texts.moreFaults(rejected - rejects.length)}</List.Item>}
          </List>
        )}
      </Alert>
      <Group>
        {isGood && imported > 0 && <Button onClick={onLoad}>{texts.load(imported)}</Button>}
        <Button variant="default" onClick={onOther}>
          {texts.other}
        </Button>
      </Group>
    </Stack>
  )
}
