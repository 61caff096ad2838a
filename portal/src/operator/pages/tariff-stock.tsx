import { Button, Card, Stack, Text, Textarea, Title } from '@mantine/core'
import { useMutation, useQuery } from '@tanstack/react-query'
import { getRouteApi } from '@tanstack/react-router'
import { useState } from 'react'
import { answer, api } from '../../api/client.ts'
import { useFormat, useTexts } from '../../i18n/preferences.tsx'
import { useMayChange } from '../../session/use-session.ts'
import { BackLink } from '../../ui/back-link.tsx'
import { useConfirm } from '../../ui/confirm.tsx'
import { KeyFacts } from '../../ui/key-facts.tsx'
import { useNotify } from '../../ui/notify.tsx'
import { PageHeader } from '../../ui/page-header.tsx'
import { Loaded } from '../../ui/states.tsx'
import { Count } from '../../ui/values.tsx'
import { ImportProfiles } from '../parts/import-profiles.tsx'
import { LevelBadge } from '../parts/level-badge.tsx'
import { type StockLine, stockQuery, useOperatorChanged } from '../queries.ts'
import { operatorTexts } from '../texts.ts'

const route = getRouteApi('/signed-in/operator/stock/$operatorCode/$tariffCode')

/** The stock of one tariff: loading more, and taking profiles out of sale. */
export function TariffStockPage() {
  const { stock: texts } = useTexts(operatorTexts)
  const { operatorCode, tariffCode } = route.useParams()
  const query = useQuery(stockQuery)
  return (
    <Loaded query={query}>
      {lines => {
        const line = lines.find(each => each.operatorCode === operatorCode && each.tariffCode === tariffCode)
        return line ? (
          <Whole line={line} />
        ) : (
          <PageHeader back={<BackLink to="/operator/stock">{texts.back}</BackLink>} title={texts.nothing} />
        )
      }}
    </Loaded>
  )
}

function Whole({ line }: { line: StockLine }) {
  const { stock: texts } = useTexts(operatorTexts)
  const mayChange = useMayChange()
  const { free, reserved, sold, withdrawn, daysOfCover } = line
  return (
    <>
      <PageHeader
        back={<BackLink to="/operator/stock">{texts.back}</BackLink>}
        title={line.tariffName}
        badge={<LevelBadge line={line} />}
        lead={line.operatorName}
      />
      <Stack gap="lg">
        <Card>
          <KeyFacts
            facts={[
              {
                label: texts.free,
                value: <Count value={free} />,
                hint: daysOfCover === null ? texts.noPace : texts.days(Math.floor(daysOfCover)),
              },
              { label: texts.reserved, value: <Count value={reserved} /> },
              { label: texts.sold, value: <Count value={sold} /> },
              { label: texts.withdrawn, value: <Count value={withdrawn} /> },
            ]}
          />
        </Card>
        {mayChange && <ImportProfiles line={line} />}
        {mayChange && <Withdraw />}
      </Stack>
    </>
  )
}

function Withdraw() {
  const { stock: texts } = useTexts(operatorTexts)
  const format = useFormat()
  const confirm = useConfirm()
  const notify = useNotify()
  const changed = useOperatorChanged()
  const [text, setText] = useState('')
  const iccids = text.split(/[\s,;]+/).filter(Boolean)
  const withdraw = useMutation({
    mutationFn: () => answer(api.POST('/admin/profiles/withdraw', { body: { iccids } })),
    onSuccess({ withdrawn, notFree }) {
      notify.done(texts.withdrawn1(format.number(withdrawn), format.number(notFree)))
      setText('')
      void changed()
    },
    onError: notify.failed,
  })
  const ask = async () => {
    const question = {
      title: texts.withdrawTitle(iccids.length),
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
          onChange={({ currentTarget }) => setText(currentTarget.value)}
          autosize
          minRows={3}
          maxRows={10}
          w="100%"
          maw={480}
          autoComplete="off"
        />
        <Button
          variant="light"
          color="red"
          disabled={iccids.length === 0}
          loading={withdraw.isPending}
          onClick={() => void ask()}
        >
          {texts.withdraw}
        </Button>
      </Stack>
    </Card>
  )
}
