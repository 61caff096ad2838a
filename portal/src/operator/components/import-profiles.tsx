import { Card, Text, Title } from '@mantine/core'
import { useState } from 'react'
import { useTexts } from '../../i18n/preferences.tsx'
import { FileUpload } from '../../ui/file-upload.tsx'
import { useNotify } from '../../ui/notify.tsx'
import { useUpload } from '../../ui/use-upload.ts'
import { type StockLine, useOperatorChanged } from '../queries.ts'
import { type Imported, readImport, refusedLines } from '../stock-import.ts'
import { operatorTexts } from '../texts.ts'
import { type Load, Refused, Trial } from './import-trial.tsx'

const maxBytes = 1024 * 1024 * 1024
const template = {
  fileName: 'profiles.csv',
  rows: [['8999900000000000017', '+380671234567', '1234', 'LPA:1$smdp.example.com$ABCDE-12345']],
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
  const onDone = ({ imported, duplicates, rejected }: Imported) => {
    const left = [
      ...(duplicates > 0 ? [texts.left(duplicates)] : []),
      ...(imported === 0 && rejected > 0 ? [texts.errors(rejected)] : []),
    ]
    const text = [imported > 0 ? texts.loaded(imported) : texts.loadedNone, ...left].join('. ')
    if (imported > 0) notify.done(text)
    else notify.refused(text)
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
  // Shows the state of the import once it has started, so that its error stays visible. Until then, shows the state of
  // the trial, because each chosen file is first sent as a trial.
  const shown = loading ? loads[loading] : trial
  const refused = loading && refusedLines(shown.error, texts.rules)
  const choose = {
    ...shown,
    ...(refused && { error: null }),
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
      {refused && <Refused refused={refused} fileName={shown.fileName} />}
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
