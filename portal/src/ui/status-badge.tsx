import { Badge } from '@mantine/core'
import {
  IconArchive,
  IconBan,
  IconCircleCheck,
  IconClockHour4,
  IconHourglass,
  IconPlayerPlay,
  type IconProps,
} from '@tabler/icons-react'
import type { ComponentType } from 'react'
import { useTexts } from '../i18n/preferences.tsx'
import { type StatusKind, type StatusOf, statusTexts } from './status-texts.ts'

/** The colour and the icon for each meaning of a status. The icon helps people who cannot distinguish the colours. */
const tones = {
  waiting: { color: 'yellow', picture: IconHourglass },
  ready: { color: 'blue', picture: IconClockHour4 },
  running: { color: 'perk', picture: IconPlayerPlay },
  good: { color: 'perk', picture: IconCircleCheck },
  over: { color: 'gray', picture: IconArchive },
  bad: { color: 'red', picture: IconBan },
} satisfies Record<string, { color: string; picture: ComponentType<IconProps> }>
type Tone = keyof typeof tones

const toneOf: { [Kind in StatusKind]: Record<StatusOf<Kind>, Tone> } = {
  campaign: {
    awaitingBankApproval: 'waiting',
    awaitingMerchantApproval: 'ready',
    approved: 'good',
    active: 'running',
    awaitingCompensationConfirmation: 'waiting',
    awaitingCompensationPayment: 'waiting',
    paymentConfirmed: 'good',
    compensationReceived: 'good',
    completed: 'over',
    declined: 'bad',
    expired: 'over',
    deleted: 'over',
  },
  participation: { pending: 'waiting', approved: 'good', declined: 'bad', expired: 'over' },
  reporting: {
    awaitingBankReconciliation: 'waiting',
    awaitingMerchantReconciliationConfirmation: 'waiting',
    awaitingUpdatedBankReconciliation: 'waiting',
    awaitingCompensationConfirmation: 'ready',
    settled: 'good',
    acknowledged: 'good',
  },
  order: { reserved: 'waiting', confirmed: 'good', cancelled: 'bad', expired: 'over', withdrawn: 'over' },
  partner: { active: 'good', suspended: 'bad', withdrawn: 'over' },
  access: { invited: 'waiting', active: 'good', disabled: 'bad', revoked: 'bad', expiring: 'waiting' },
  endpoint: { enabled: 'good', failing: 'waiting', disabled: 'bad' },
  delivery: { pending: 'waiting', delivered: 'good', failed: 'bad', skipped: 'over' },
}

/** A status of any kind in the person's language. */
export function StatusBadge<Kind extends StatusKind>({ of, status }: { of: Kind; status: StatusOf<Kind> }) {
  const texts = useTexts(statusTexts)
  const { color, picture: Picture } = tones[toneOf[of][status]]
  return (
    <Badge color={color} leftSection={<Picture size={13} stroke={2.2} aria-hidden />} data-status={status}>
      {(texts[of] as Record<StatusOf<Kind>, string>)[status]}
    </Badge>
  )
}
