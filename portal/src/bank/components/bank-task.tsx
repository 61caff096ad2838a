import { TaskCard, type TaskLinkLook } from '../../campaigns/home/task-card.tsx'
import type { HomeTask } from '../../campaigns/types.ts'
import { useNames, useTexts } from '../../i18n/preferences.tsx'
import { LinkButton } from '../../ui/links.tsx'
import { bankTexts } from '../texts.ts'

/** One open task of the bank, or an open task of the merchant that the bank waits for. */
export function BankTask({ task }: { task: HomeTask }) {
  const { home: texts } = useTexts(bankTexts)
  const names = useNames()
  const { kind, campaignName, otherwise } = task
  const merchant = names.of({ name: task.retailerName, nameEn: task.retailerNameEn })
  // Only a campaign that the bank itself created expires as a whole when the bank does not decide.
  const isOwn = kind === 'decide-invitation' && otherwise === 'campaign-expires'
  const title = isOwn ? texts.startOwn : texts.task[kind]
  return (
    <TaskCard
      task={task}
      title={typeof title === 'string' ? title : title(merchant)}
      detail={texts.detail(campaignName, merchant)}
      otherwise={texts.otherwise[otherwise]}
      action={isOwn ? texts.start : texts.action[kind]}
      link={look => <TaskLink task={task} look={look} />}
    />
  )
}

const ofReconciliation: readonly HomeTask['kind'][] = [
  'upload-report',
  'answer-report',
  'confirm-settlement',
  'acknowledge-compensation',
]

function TaskLink({ task: { kind, cashbackId }, look }: { task: HomeTask; look: TaskLinkLook }) {
  const isOfReconciliation = ofReconciliation.includes(kind)
  return (
    <LinkButton
      to={isOfReconciliation ? '/bank/campaigns/$cashbackId/reconciliation' : '/bank/campaigns/$cashbackId'}
      params={{ cashbackId }}
      {...look}
    />
  )
}
