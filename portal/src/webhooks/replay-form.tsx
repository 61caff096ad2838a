import { Group, Radio, SegmentedControl, Stack } from '@mantine/core'
import { modals } from '@mantine/modals'
import { useMutation } from '@tanstack/react-query'
import { useState } from 'react'
import { usePreferences, useTexts } from '../i18n/preferences.tsx'
import { periodOfDays } from '../i18n/time-zone.ts'
import { DayField, isDay } from '../ui/day-field.tsx'
import { FormFrame } from '../ui/form-frame.tsx'
import { useNotify } from '../ui/notify.tsx'
import { NumberField } from '../ui/number-field.tsx'
import { useOnce } from '../ui/use-once.ts'
import { webhookTexts } from './texts.ts'
import { TypeChoice } from './type-choice.tsx'
import type { ReplayParams } from './types.ts'

const onlys = ['failed', 'all'] as const
const bys = ['sequence', 'day'] as const

/**
 * Asks which events an endpoint should receive again.
 *
 * @param props.types the types to choose from; empty: no choice is offered
 * @param props.replay sends the request; returns the number of deliveries to come
 */
export function ReplayForm(props: {
  types: readonly string[]
  replay: (params: ReplayParams) => Promise<{ deliveries: number }>
}) {
  const { types, replay } = props
  const { replay: texts } = useTexts(webhookTexts)
  const { timeZone } = usePreferences()
  const notify = useNotify()
  const [by, setBy] = useState<(typeof bys)[number]>('sequence')
  const [edges, setEdges] = useState<Edges>({ from: 1, to: '', firstDay: '', lastDay: '' })
  const [only, setOnly] = useState<(typeof onlys)[number]>('failed')
  const [wanted, setWanted] = useState<string[]>([])
  const start = useMutation({
    mutationFn: () => replay({ ...edgeParams(by, edges, timeZone), only, ...(wanted.length > 0 && { types: wanted }) }),
    onSuccess({ deliveries }) {
      modals.closeAll()
      notify.done(texts.started(deliveries))
    },
  })
  const send = useOnce(start)
  const set = (change: Partial<Edges>) => setEdges(before => ({ ...before, ...change }))
  return (
    <FormFrame action={texts.title} rest={start.error} isPending={start.isPending} onSubmit={send}>
      <SegmentedControl
        aria-label={texts.by}
        value={by}
        onChange={value => setBy(bys.find(each => each === value) ?? 'sequence')}
        data={bys.map(value => ({ value, label: texts.bys[value] }))}
      />
      {by === 'sequence' ? (
        <Group grow align="flex-start">
          <NumberField label={texts.from} decimals={0} value={edges.from} onChange={from => set({ from })} required />
          <NumberField
            label={texts.to}
            description={texts.toHint}
            inputWrapperOrder={['label', 'input', 'description', 'error']}
            decimals={0}
            value={edges.to}
            onChange={to => set({ to })}
          />
        </Group>
      ) : (
        <Group grow align="flex-start">
          <DayField label={texts.from} value={edges.firstDay} onChange={firstDay => set({ firstDay })} />
          <DayField label={texts.to} value={edges.lastDay} onChange={lastDay => set({ lastDay })} />
        </Group>
      )}
      <Radio.Group label={texts.only} value={only} onChange={value => setOnly(value === 'all' ? 'all' : 'failed')}>
        <Stack gap="xs" mt="xs">
          {onlys.map(value => (
            <Radio key={value} value={value} label={texts.onlys[value]} />
          ))}
        </Stack>
      </Radio.Group>
      {types.length > 0 && (
        <TypeChoice description={texts.typesHint} types={types} value={wanted} onChange={setWanted} />
      )}
    </FormFrame>
  )
}

type Edges = { from: number | string; to: number | string; firstDay: string; lastDay: string }

/**
 * The bounds of the events to send again, both inclusive. A last day counts up to its last millisecond. Days that
 * cannot be read are sent as typed, and the platform reports the error.
 */
function edgeParams(by: (typeof bys)[number], edges: Edges, timeZone: string): Pick<ReplayParams, 'from' | 'to'> {
  const { from, to, firstDay, lastDay } = edges
  if (by === 'sequence') return { from, ...(to !== '' && { to }) }
  if (!isDay(firstDay) || !isDay(lastDay)) return { from: firstDay, to: lastDay }
  const { dateFrom, dateTo } = periodOfDays(firstDay, lastDay, timeZone)
  return { from: dateFrom, to: new Date(Date.parse(dateTo) - 1).toISOString() }
}
