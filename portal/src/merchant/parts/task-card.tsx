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
import { Link } from '@tanstack/react-router'
import type { HomeTask } from '../../campaigns/types.ts'
import { useFormat, useTexts } from '../../i18n/preferences.tsx'
import type { SameTexts } from '../../i18n/texts.ts'
import { useNow } from '../../session/use-now.ts'
import { merchantTexts } from '../texts.ts'
import classes from './parts.module.css'

/** One thing that waits: what it is, who must act, by when, and what happens otherwise. It leads to where it is done. */
export function TaskCard({ task }: { task: HomeTask }) {
  const { home: texts } = useTexts(merchantTexts)
  const format = useFormat()
  const now = useNow()
  const isMine = task.waitsFor === 'me'
  const Picture = pictures[task.kind]
  return (
    <Card padding="md" className={classes.task ?? ''} data-task={task.kind}>
      <ThemeIcon size={42} radius="xl" variant="light" color={isMine ? 'perk' : 'gray'} aria-hidden>
        <Picture size={22} stroke={1.6} />
      </ThemeIcon>
      <div>
        <TaskLink task={task}>
          <Text fw={650} span>
            {titleOf(task, texts)}
          </Text>
        </TaskLink>
        <Text size="sm">{task.campaignName}</Text>
        <Text size="sm" c="dimmed">
          {texts.otherwise[task.otherwise]}
        </Text>
      </div>
      <div className={classes.when}>
        <Text size="sm" fw={600}>
          {isMine ? texts.you : texts.bankActs(task.bankName ?? '')}
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

function titleOf({ kind, bankName, campaignStatus }: HomeTask, texts: SameTexts<HomeTexts>): string {
  if (kind === 'launch-possible' && campaignStatus === 'awaitingBankApproval') return texts.launchEarly
  const title = texts.task[kind]
  return typeof title === 'string' ? title : title(bankName ?? '')
}

type HomeTexts = (typeof merchantTexts)['en']['home']

/** Reports and settlements are in the room with the bank, everything else with the campaign. */
function TaskLink({ task, children }: { task: HomeTask; children: React.ReactNode }) {
  const { cashbackId, bankId } = task
  const look = classes.tileLink ?? ''
  if (bankId === null || task.kind === 'decide-invitation')
    return (
      <Link to="/merchant/campaigns/$cashbackId" params={{ cashbackId }} className={look}>
        {children}
      </Link>
    )
  return (
    <Link to="/merchant/campaigns/$cashbackId/banks/$bankId" params={{ cashbackId, bankId }} className={look}>
      {children}
    </Link>
  )
}
