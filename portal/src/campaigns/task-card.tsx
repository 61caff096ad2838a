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
import { useFormat, useTexts } from '../i18n/preferences.tsx'
import { useNow } from '../session/use-now.ts'
import { homeTexts } from './home-texts.ts'
import classes from './parts.module.css'
import type { HomeTask } from './types.ts'

/**
 * One thing that waits: what it is, who must act, by when, and what happens otherwise. It leads to where it is done.
 *
 * @param props.detail whose campaign it is, below the title
 * @param props.who says who acts, when it is not the person
 * @param props.link makes the link to where it is done; its look covers the card
 */
export function TaskCard(props: {
  task: HomeTask
  title: string
  detail: string
  otherwise: string
  who: string
  link: (children: ReactNode, look: string) => ReactNode
}) {
  const { task, title, detail, otherwise, who, link } = props
  const texts = useTexts(homeTexts)
  const format = useFormat()
  const now = useNow()
  const isMine = task.waitsFor === 'me'
  const Picture = pictures[task.kind]
  const name = (
    <Text fw={650} span>
      {title}
    </Text>
  )
  return (
    <Card padding="md" className={classes.task ?? ''} data-task={task.kind}>
      <ThemeIcon size={42} radius="xl" variant="light" color={isMine ? 'perk' : 'gray'} aria-hidden>
        <Picture size={22} stroke={1.6} />
      </ThemeIcon>
      <div>
        {link(name, classes.tileLink ?? '')}
        <Text size="sm">{detail}</Text>
        <Text size="sm" c="dimmed">
          {otherwise}
        </Text>
      </div>
      <div className={classes.when}>
        <Text size="sm" fw={600}>
          {isMine ? texts.you : who}
        </Text>
        <Text size="sm" c="dimmed" title={task.by ? format.precise(task.by) : undefined}>
          {task.by ? `${texts.by(format.dateTime(task.by))} · ${format.relative(task.by, now)}` : texts.noEnd}
        </Text>
      </div>
    </Card>
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
