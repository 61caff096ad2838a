/** The name of a bank or a merchant, for answers of the API that contain only its code. */
import { Text } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useNames } from '../../i18n/preferences.tsx'
import { merchantQuery, partnersQuery } from '../queries.ts'

/** Names hardly ever change. */
const staleTime = 10 * 60_000

type Partner = { kind: 'bank' | 'merchant'; code: string }

/** @returns the code until the name is loaded */
export function usePartnerName({ kind, code }: Partner): string {
  const names = useNames()
  const partners = useQuery({ ...partnersQuery(), staleTime, enabled: kind === 'bank' })
  const merchant = useQuery({ ...merchantQuery(code), staleTime, enabled: kind === 'merchant' })
  const bank = partners.data?.banks.find(({ entry }) => entry.code === code)
  const found = kind === 'bank' ? bank?.entry : merchant.data?.entry
  return found ? names.of(found) : code
}

/** @param props.note shown below the name; default: the code */
export function PartnerName({ note, ...partner }: Partner & { note?: string }) {
  const name = usePartnerName(partner)
  const below = note ?? partner.code
  return (
    <div>
      <Text size="sm">{name}</Text>
      {below !== name && (
        <Text size="xs" c="dimmed">
          {below}
        </Text>
      )}
    </div>
  )
}
