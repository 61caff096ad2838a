import { Alert, Button, Card, List, Stack, Text, Textarea, Title } from '@mantine/core'
import { useMutation } from '@tanstack/react-query'
import { useState } from 'react'
import { answer, api } from '../../api/client.ts'
import { useFormat, useTexts } from '../../i18n/preferences.tsx'
import { useConfirm } from '../../ui/confirm.tsx'
import { useNotify } from '../../ui/notify.tsx'
import { uiTexts } from '../../ui/texts.ts'
import { type StockLine, useOperatorChanged, type Withdrawn } from '../queries.ts'
import { operatorTexts } from '../texts.ts'

const iccidForm = /^\d{18,20}$/

type Typed = { iccid: string; line: number }

/** Splits the typed text into distinct ICCIDs, each with its first line number. A line may contain several ICCIDs. */
function readIccids(text: string): Typed[] {
  const all = text.split('\n').flatMap((line, index) =>
    line
      .split(/[\s,;]+/)
      .filter(Boolean)
      .map(iccid => ({ iccid, line: index + 1 })),
  )
  const firsts = new Map<string, Typed>()
  for (const typed of all) if (!firsts.has(typed.iccid)) firsts.set(typed.iccid, typed)
  return [...firsts.values()]
}

/** Takes profiles of one tariff off sale. Profiles that cannot be withdrawn stay in the list, each with its reason. */
export function WithdrawProfiles({ line: { operatorCode, tariffCode } }: { line: StockLine }) {
  const { stock: texts } = useTexts(operatorTexts)
  const confirm = useConfirm()
  const notify = useNotify()
  const changed = useOperatorChanged()
  const [text, setText] = useState('')
  const [isAsked, setAsked] = useState(false)
  const input = readIccids(text)
  const wrong = input.filter(({ iccid }) => !iccidForm.test(iccid))
  const withdraw = useMutation({
    mutationFn: () =>
      answer(
        api.POST('/admin/profiles/withdraw', {
          body: { iccids: input.map(({ iccid }) => iccid), operator: operatorCode, tariff: tariffCode },
        }),
      ),
    onSuccess({ withdrawn, problems }) {
      if (problems.length === 0) {
        notify.done(texts.withdrawnDone(withdrawn))
        setText('')
      }
      void changed()
    },
    onError: notify.failed,
  })
  const ask = async () => {
    setAsked(true)
    if (wrong.length > 0) return
    const question = {
      title: texts.withdrawTitle(input.length),
      text: texts.withdrawText,
      action: texts.withdraw,
      isDangerous: true,
    }
    if (await confirm(question)) withdraw.mutate()
  }
  return (
    <Card component="section">
      <Title order={2} mb={4}>
        {texts.withdraw}
      </Title>
      <Text size="sm" c="dimmed" mb="md">
        {texts.withdrawHint}
      </Text>
      <Stack gap="sm" align="flex-start">
        <Textarea
          label={texts.iccids}
          value={text}
          onChange={({ currentTarget }) => {
            setText(currentTarget.value)
            setAsked(false)
            withdraw.reset()
          }}
          error={isAsked && wrong.length > 0 && <Malformed wrong={wrong} />}
          autosize
          minRows={3}
          maxRows={10}
          w="100%"
          maw={480}
          autoComplete="off"
        />
        {withdraw.data && withdraw.data.problems.length > 0 && (
          <Problems withdrawn={withdraw.data} lineOf={place => input[place - 1]?.line ?? place} />
        )}
        <Button
          variant="light"
          color="red"
          disabled={input.length === 0}
          loading={withdraw.isPending}
          onClick={() => void ask()}
        >
          {texts.withdraw}
        </Button>
      </Stack>
    </Card>
  )
}

const maxShown = 20

/** Lists the typed values that are not ICCIDs, with their lines. */
function Malformed({ wrong }: { wrong: readonly Typed[] }) {
  const { stock: texts } = useTexts(operatorTexts)
  const { upload } = useTexts(uiTexts)
  const format = useFormat()
  return (
    <>
      {wrong.slice(0, maxShown).map(({ iccid, line }) => (
        <Text key={iccid} span inherit display="block">
          {texts.problem(format.number(line), iccid.slice(-4), texts.rules['iccid-digits'])}
        </Text>
      ))}
      {wrong.length > maxShown && upload.firstOf(format.number(maxShown), format.number(wrong.length))}
    </>
  )
}

function Problems(props: { withdrawn: Withdrawn; lineOf: (place: number) => number }) {
  const { withdrawn, lineOf } = props
  const { stock: texts } = useTexts(operatorTexts)
  const format = useFormat()
  const { problems } = withdrawn
  return (
    <Alert
      color="orange"
      w="100%"
      role="alert"
      title={texts.withdrawnSome(format.number(withdrawn.withdrawn), format.number(problems.length))}
    >
      <List size="sm" mah={320} style={{ overflowY: 'auto' }} tabIndex={0}>
        {problems.map(({ iccid, line, reason }) => (
          <List.Item key={line}>{texts.problem(format.number(lineOf(line)), iccid, texts.problems[reason])}</List.Item>
        ))}
      </List>
    </Alert>
  )
}
