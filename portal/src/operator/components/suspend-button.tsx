import { Button } from '@mantine/core'
import { useMutation } from '@tanstack/react-query'
import { useTexts } from '../../i18n/preferences.tsx'
import { useConfirm } from '../../ui/confirm.tsx'
import { useNotify } from '../../ui/notify.tsx'
import { applyEntry, useOperatorChanged } from '../queries.ts'
import { operatorTexts } from '../texts.ts'

/** Suspends an active partner after a confirmation, or reactivates a suspended one. */
export function SuspendButton(props: {
  kind: 'banks' | 'merchants'
  entry: { code: string; status: 'active' | 'suspended' }
  name: string
}) {
  const { kind, entry, name } = props
  const { partners: texts } = useTexts(operatorTexts)
  const confirm = useConfirm()
  const notify = useNotify()
  const changed = useOperatorChanged()
  const isActive = entry.status === 'active'
  const turn = useMutation({
    mutationFn: () => applyEntry({ [kind]: [{ code: entry.code, status: isActive ? 'suspended' : 'active' }] }),
    onSuccess: () => notify.done((isActive ? texts.suspended : texts.resumed)(name)),
    onError: notify.failed,
    onSettled: changed,
  })
  const ask = async () => {
    const question = {
      title: texts.suspendTitle(name),
      text: texts.suspendText,
      action: texts.suspend,
      isDangerous: true,
    }
    if (!isActive || (await confirm(question))) turn.mutate()
  }
  return (
    <Button variant="light" color={isActive ? 'red' : 'perk'} loading={turn.isPending} onClick={() => void ask()}>
      {isActive ? texts.suspend : texts.resume}
    </Button>
  )
}
