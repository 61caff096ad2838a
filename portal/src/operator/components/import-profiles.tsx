import { Alert, Button, Card, Group, List, Stack, Text, Title } from '@mantine/core'
import { useState } from 'react'
import { useFormat, useTexts } from '../../i18n/preferences.tsx'
import { FileUpload } from '../../ui/file-upload.tsx'
import { useNotify } from '../../ui/notify.tsx'
import { useUpload } from '../../ui/use-upload.ts'
import { type StockLine, useOperatorChanged } from '../queries.ts'
import { operatorTexts } from '../texts.ts'

type Reject = { lineNumber: number; column: string; rule: string; reason: string }
type Imported = { imported: number; duplicates: number; rejected: number; rejects: Reject[] }

/** What to import after the trial: the whole file, or only its valid lines. */
type Load = 'all' | 'valid'

const maxBytes = 1024 * 1024 * 1024
const maxShown = 20
const template = {
  fileName: 'profiles.csv',
  rows: [['8999900000000000017', '+380671234567', '1234', 'LPA:1$smdp.example.com$ABCDE-12345']],
}

/** The answer has one line for each invalid line of the file, and then the result. */
function readImport(text: string): Imported {
  const rejects: Reject[] = []
  let result = { imported: 0, duplicates: 0, rejected: 0 }
  for (const lineText of text.split('\n').filter(Boolean)) {
    const line = JSON.parse(lineText) as { reject?: Reject; result?: typeof result }
    if (line.reject && rejects.length < maxShown) rejects.push(line.reject)
    if (line.result) result = line.result
  }
  return { ...result, rejects }
}

/** Imports a stock file in two steps: a trial shows the outcome, and the person then starts the import. */
export function ImportProfiles({ line: { operatorCode, tariffCode } }: { line: StockLine }) {
  const { stock: texts } = useTexts(operatorTexts)
  const notify = useNotify()
  const changed = useOperatorChanged()
  const [file, setFile] = useState<File | null>(null)
  const [tried, setTried] = useState<Imported | null>(null)
  const [loading, setLoading] = useState<Load | null>(null)
  const query = new URLSearchParams({ operator: operatorCode, tariff: tariffCode })
  const start = () => {
    setFile(null)
    setTried(null)
    setLoading(null)
  }
  // The trial skips invalid lines, so that it can report all of them. The import skips them only if the person chooses
  // this.
  const trial = useUpload<Imported>(`/admin/profiles?${query}&dryRun=true&skipInvalid=true`, {
    asForm: false,
    isTrial: true,
    read: readImport,
    onDone: setTried,
  })
  const onDone = ({ imported }: Imported) => {
    notify.done(texts.loaded(imported))
    start()
    void changed()
  }
  // After an error or a cancellation the stock is read again. If the answer was lost, the profiles may be in stock.
  const readStock = () => void changed()
  const options = { asForm: false, read: readImport, onDone, onCancel: readStock, onError: readStock }
  const loads = {
    all: useUpload<Imported>(`/admin/profiles?${query}`, options),
    valid: useUpload<Imported>(`/admin/profiles?${query}&skipInvalid=true`, options),
  }
  // Shows the state of the import once one has started, so that its error stays visible; otherwise the state of the
  // trial. Each file that the person chooses is first sent as a trial.
  const choose = {
    ...(loading ? loads[loading] : trial),
    interrupted: loads.all.interrupted ?? loads.valid.interrupted,
    send(chosen: File) {
      start()
      setFile(chosen)
      return trial.send(chosen)
    },
  }
  const loadTried = (chosen: File, which: Load) => {
    setLoading(which)
    void loads[which].send(chosen)
  }
  return (
    <Card component="section">
      <Title order={2} mb={4}>
        {texts.import}
      </Title>
      <Text size="sm" c="dimmed" mb="md">
        {texts.importText}
      </Text>
      {tried && file && !loading ? (
        <Trial tried={tried} fileName={file.name} onLoad={which => loadTried(file, which)} onOther={start} />
      ) : (
        <FileUpload
          upload={choose}
          hint={texts.importHint}
          maxBytes={maxBytes}
          guide={{ columns: texts.columns, template }}
        />
      )}
    </Card>
  )
}

function Trial(props: { tried: Imported; fileName: string; onLoad: (which: Load) => void; onOther: () => void }) {
  const { tried, fileName, onLoad, onOther } = props
  const { stock: texts } = useTexts(operatorTexts)
  const format = useFormat()
  const { imported, duplicates, rejected } = tried
  const isGood = rejected === 0
  return (
    <Stack gap="md" role="status">
      {!isGood && <Rejected tried={tried} />}
      <Alert color={isGood ? 'perk' : 'gray'} title={texts.tried(imported, format.number(duplicates))}>
        {fileName}
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

function Rejected({ tried: { imported, rejected, rejects } }: { tried: Imported }) {
  const { stock: texts } = useTexts(operatorTexts)
  const format = useFormat()
  const rules: Record<string, string> = texts.rules
  return (
    <Alert color="red" title={texts.errors(rejected)}>
      {imported > 0 && texts.errorsText}
      <List size="sm" mt="xs">
        {rejects.map(({ lineNumber, column, rule, reason }) => (
          <List.Item key={lineNumber}>
            {column === 'line'
              ? texts.lineError(format.number(lineNumber), rules[rule] ?? reason)
              : texts.error(format.number(lineNumber), column, rules[rule] ?? reason)}
          </List.Item>
        ))}
        {rejected > rejects.length && <List.Item>{texts.moreErrors(rejected - rejects.length)}</List.Item>}
      </List>
    </Alert>
  )
}
