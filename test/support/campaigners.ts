/** A merchant and a bank that make campaigns at a platform in a process of its own. */
import { campaignDirectory, ids } from './campaigns.ts'
import type { PerklineProcess } from './process.ts'

export type Campaigners = { merchant: string; bank: string }
type Caller = Pick<PerklineProcess, 'call'>

/** Applies the directory of campaigns to a platform. @returns tokens of a merchant and of a bank that it invites */
export async function openCampaigners(platform: PerklineProcess): Promise<Campaigners> {
  await platform.admin('POST', '/directory', { directory: campaignDirectory, files: {} })
  const tokenOf = async (of: object): Promise<string> => {
    const issued = await platform.admin('POST', '/credentials', { ...of, label: 'campaigners' })
    return (await platform.call('POST', '/getToken/auth', { body: issued })).body.access_token
  }
  return { merchant: await tokenOf({ merchant: 'grocer' }), bank: await tokenOf({ bank: 'alpha', role: 'ADMIN' }) }
}

const inDays = (days: number): string => new Date(Date.now() + days * 86_400_000).toISOString()

export function campaignFormOf(name: string): object {
  return {
    ...{ participantsIds: [ids.alpha], name, dateFrom: inDays(10), dateTo: inDays(40) },
    ...{ minAmount: 100, maxAmount: 5000, percentage: 5, countryCode: 'UA', terminalsPlatform: true },
    ...{ paymentSystemsId: [ids.visa], merchantCompensationPercentage: 60 },
  }
}

/** The calls for a campaign: the merchant creates it, its bank approves it, the merchant launches it (each answer is 201) and reads it. */
export function campaignSteps({ call }: Caller, { merchant, bank }: Campaigners) {
  return {
    make: (name: string) => call('POST', '/cashbacks/for-merchant', { token: merchant, body: campaignFormOf(name) }),
    approve: (id: string) => call('POST', `/cashbacks/${id}/confirm`, { token: bank }),
    launch: (id: string) => call('POST', `/cashbacks/for-merchant/${id}/confirm`, { token: merchant }),
    read: (id: string) => call('GET', `/cashbacks/for-merchant/${id}`, { token: merchant }),
  }
}
