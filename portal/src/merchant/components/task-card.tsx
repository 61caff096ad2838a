import { TaskCard, type TaskLinkLook } from '../../campaigns/home/task-card.tsx'
import type { HomeTask } from '../../campaigns/types.ts'
import { useTexts } from '../../i18n/preferences.tsx'
import type { SameTexts } from '../../i18n/texts.ts'
import { LinkButton } from '../../ui/links.tsx'
import { merchantTexts } from '../texts.ts'

/** One open task of the merchant, or an open task of a bank that the merchant waits for. */
export function MerchantTask({ task }: { task: HomeTask }) {
  const { home: texts } = useTexts(merchantTexts)
  return (
    <TaskCard
      task={task}
      title={titleOf(task, texts)}
      detail={task.campaignName}
      otherwise={texts.otherwise[task.otherwise]}
      action={texts.action[task.kind]}
      link={look => <TaskLink task={task} look={look} />}
    />
  )
}

function titleOf({ kind, bankName, campaignStatus }: HomeTask, texts: SameTexts<HomeTexts>): string {
  if (kind === 'launch-possible' && campaignStatus === 'awaitingBankApproval') return texts.launchEarly
  const title = texts.task[kind]
  return typeof title === 'string' ? title : title(bankName ?? '')
}

type HomeTexts = (typeof merchantTexts)['en']['home']

/** Tasks about reports and settlement lead to the reconciliation with the bank, all others to the campaign. */
function TaskLink({ task: { cashbackId, bankId, kind }, look }: { task: HomeTask; look: TaskLinkLook }) {
  return bankId === null || kind === 'decide-invitation' ? (
    <LinkButton to="/merchant/campaigns/$cashbackId" params={{ cashbackId }} {...look} />
  ) : (
    <LinkButton to="/merchant/campaigns/$cashbackId/banks/$bankId" params={{ cashbackId, bankId }} {...look} />
  )
}
