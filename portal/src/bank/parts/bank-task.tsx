import { Link } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import { TaskCard } from '../../campaigns/task-card.tsx'
import type { HomeTask } from '../../campaigns/types.ts'
import { useTexts } from '../../i18n/preferences.tsx'
import type { SameTexts } from '../../i18n/texts.ts'
import { bankTexts } from '../texts.ts'

/** One thing that waits for the bank, or for which it waits. */
export function BankTask({ task }: { task: HomeTask }) {
  const { home: texts } = useTexts(bankTexts)
  const { campaignName, retailerName } = task
  return (
    <TaskCard
      task={task}
      title={titleOf(task, texts)}
      detail={texts.detail(campaignName, retailerName)}
      otherwise={texts.otherwise[task.otherwise]}
      who={texts.merchantActs(retailerName)}
      link={(children, look) => (
        <TaskLink task={task} look={look}>
          {children}
        </TaskLink>
      )}
    />
  )
}

/** A decision of which the whole campaign depends is that on a campaign of one's own. */
function titleOf({ kind, otherwise, retailerName }: HomeTask, texts: SameTexts<HomeTexts>): string {
  if (kind === 'decide-invitation' && otherwise === 'campaign-expires') return texts.startOwn
  const title = texts.task[kind]
  return typeof title === 'string' ? title : title(retailerName)
}

type HomeTexts = (typeof bankTexts)['en']['home']

const ofReconciliation: readonly HomeTask['kind'][] = [
  'upload-report',
  'answer-report',
  'confirm-settlement',
  'acknowledge-compensation',
]

function TaskLink({
  task: { kind, cashbackId },
  look,
  children,
}: {
  task: HomeTask
  look: string
  children: ReactNode
}) {
  return (
    <Link
      to={
        ofReconciliation.includes(kind) ? '/bank/campaigns/$cashbackId/reconciliation' : '/bank/campaigns/$cashbackId'
      }
      params={{ cashbackId }}
      className={look}
    >
      {children}
    </Link>
  )
}
