import type { Named } from '../../people/named.ts'

/** The partner that gets access. */
export type Owner = { kind: 'bank' | 'merchant'; code: string }

/** The partner's account, as requests about its people name it. */
export const ownerAccount = ({ kind, code }: Owner): { named: Named; typeAccount: 'bank' | 'retailer' } =>
  kind === 'bank'
    ? { named: { bank: code }, typeAccount: 'bank' }
    : { named: { merchant: code }, typeAccount: 'retailer' }
