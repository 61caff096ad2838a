/** Reads the settlement act of a campaign: what both sides reported, what was accepted, and what the merchant owes to each bank. */
import type { CampaignDeps } from '../../campaigns/deps.ts'
import { bankNotInvited, requireParty } from '../../campaigns/history/parties.ts'
import { DomainError } from '../../errors.ts'
import { hashReport } from '../file-store.ts'
import type { Partner } from '../operations.ts'
import { type Act, type ActReport, findAct } from './store.ts'

type Hashed = ActReport & { sha256: string }
type HashedBank = Omit<Act['banks'][number], 'bankReport' | 'merchantReport'> & {
  bankReport: Hashed | null
  merchantReport: Hashed | null
}
export type SettlementAct = Omit<Act, 'banks'> & { banks: HashedBank[]; generatedAt: Date }

/**
 * A bank reads its own part. The merchant reads the parts of all banks or of one.
 *
 * @throws DomainError 'not-found' for an unknown campaign, for a bank that is not invited, and to a bank that asks for another bank's
 *   part; 'forbidden' to a merchant that does not own the campaign; 'campaign-state' before reports are exchanged
 */
export async function readAct(
  { database, clock }: Pick<CampaignDeps, 'database' | 'clock'>,
  input: { caller: Partner; cashbackId: string; bankId?: string | undefined },
): Promise<SettlementAct> {
  const { caller, cashbackId } = input
  if (caller.type === 'bank' && input.bankId !== undefined && input.bankId !== caller.bankId) throw bankNotInvited()
  const bankId = caller.type === 'bank' ? caller.bankId : (input.bankId ?? null)
  await requireParty(database, { caller, cashbackId, ...(bankId !== null && { bankId }) })
  const act = await findAct(database, cashbackId, bankId)
  if (!act || act.banks.length === 0)
    throw new DomainError(
      'campaign-state',
      'There is no settlement act yet: reports are exchanged after the end of the campaign’s period',
      { problems: [{ line: null, column: null, rule: 'no-act-yet', params: {}, value: null }] },
    )
  const hashed = async (report: ActReport | null): Promise<Hashed | null> =>
    report && { ...report, sha256: report.sha256 ?? (await hashReport(database, report.reportId)) }
  const banks: HashedBank[] = []
  // Handle the banks one after the other. A report that an older version of the platform stored has no hash, and it must be read
  // completely to compute one.
  for (const bank of act.banks)
    banks.push({
      ...bank,
      bankReport: await hashed(bank.bankReport),
      merchantReport: await hashed(bank.merchantReport),
    })
  return { ...act, banks, generatedAt: clock.now() }
}
