import { Card, Text, ThemeIcon } from '@mantine/core'
import {
  type Icon,
  IconCoins,
  IconFileSpreadsheet,
  IconHourglass,
  IconReceipt2,
  IconRocket,
  IconScale,
} from '@tabler/icons-react'
import type { ReactNode } from 'react'
import { useFormat, useTexts } from '../../i18n/preferences.tsx'
import { useNow } from '../../session/use-now.ts'
import { useMayChange } from '../../session/use-session.ts'
import { Money } from '../../ui/values.tsx'
import classes from '../parts.module.css'
import type { HomeTask } from '../types.ts'
import { homeTexts } from './texts.ts'

/** The look and the text of a task's link; `label` names the campaign for screen readers. */
export type TaskLinkLook = { variant: 'light' | 'default'; size: 'sm'; 'aria-label': string; children: string }

/**
 * One open task: the campaign, the amount, the deadline, and a button that leads to the right page.
 *
 * @param props.title what must be done, or who must do it
 * @param props.detail the merchant or bank of the campaign
 * @param props.otherwise what happens if nobody acts in time; '' if nothing happens
 * @param props.action the verb on the button, for people who may act
 * @param props.link builds the link to the right page
 */
export function TaskCard(props: {
  task: HomeTask
  title: string
  detail: string
  otherwise: string
  action: string
  link: (look: TaskLinkLook) => ReactNode
}) {
  const { task, title, detail, otherwise, action, link } = props
  const texts = useTexts(homeTexts)
  const isMine = useMayChange() && task.waitsFor === 'me'
  const Picture = pictures[task.kind]
  const verb = isMine ? action : texts.view
  return (
    <Card padding="md" className={classes.task ?? ''} data-task={task.kind}>
      <ThemeIcon size={42} radius="xl" variant="light" color={isMine ? 'perk' : 'gray'} aria-hidden>
        <Picture size={22} stroke={1.6} />
      </ThemeIcon>
      <div className={classes.what}>
        <Text fw={650}>{title}</Text>
        <Text size="sm">{detail}</Text>
        {otherwise && (
          <Text size="sm" c="dimmed">
            {otherwise}
          </Text>
        )}
      </div>
      <Terms task={task} />
      {link({
        variant: isMine ? 'light' : 'default',
        size: 'sm',
        'aria-label': `${verb}: ${task.campaignName}`,
        children: verb,
      })}
    </Card>
  )
}

function Terms({ task: { by, dateTo, amount, currency } }: { task: HomeTask }) {
  const texts = useTexts(homeTexts)
  const format = useFormat()
  const now = useNow()
  return (
    <div className={classes.when}>
      {amount !== null && (
        <Text fw={650}>
          <Money amount={amount} currency={currency} />
        </Text>
      )}
      <Text size="sm" c="dimmed" title={format.precise(by ?? dateTo)}>
        {by ? `${texts.by(format.dateTime(by))} · ${format.relative(by, now)}` : texts.ended(format.lastDay(dateTo))}
      </Text>
    </div>
  )
}

const pictures: Record<HomeTask['kind'], Icon> = {
  'launch-possible': IconRocket,
  'answer-report': IconScale,
  'confirm-settlement': IconReceipt2,
  'mark-paid': IconCoins,
  'decide-invitation': IconHourglass,
  'upload-report': IconFileSpreadsheet,
  'acknowledge-compensation': IconCoins,
}
