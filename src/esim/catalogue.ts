/**
 * A copy in memory of the directory: mobile operators, their tariffs, and which banks may sell them. It is read again
 * when the directory changes. It does not say whether a tariff has a free profile, because that changes with every sale
 * (`findFree` in `orders/store.ts` reads it).
 */
import type { Queryable } from '../db/database.ts'
import { DomainError } from '../errors.ts'
import type { DeliveryMode } from '../partners/delivery-modes.ts'
import type { TariffTerms } from '../partners/entries-store.ts'

export type Tariff = TariffTerms & {
  tariffId: number
  operatorCode: string
  /** The price as decimal text, because a number would not be exact. */
  price: string
}

export type MobileOperator = {
  mobileOperatorId: number
  code: string
  nameUk: string
  nameEn: string
  logoUrl: string | null
  country: string
  status: string
  tariffs: Map<string, Tariff>
}

type BankTerms = {
  name: string
  deliveryMode: DeliveryMode
  /**
   * The share, in per cent, of a tariff's unsold stock that the bank may hold reserved; null: the platform's setting.
   */
  reservationShare: number | null
  allOperators: boolean
  operators: Set<number>
}

export type Catalogue = {
  /** Reads the directory again if it has changed. */
  refresh(): Promise<void>
  /** The version of the copy. It changes with every refresh that read something new. */
  version(): number
  /**
   * The active mobile operators that this bank may sell. The array stays the same object until the directory changes.
   * @throws DomainError 'unavailable' if the copy does not contain the bank
   */
  operatorsFor(bankId: string): readonly MobileOperator[]
  /**
   * The operator with this code, if the bank may sell it. Undefined if the operator is unknown, inactive or not in the
   * bank's list.
   */
  operatorFor(bankId: string, operatorCode: string): MobileOperator | undefined
  bank(bankId: string): Pick<BankTerms, 'name' | 'deliveryMode' | 'reservationShare'>
  /**
   * The tariff of an order, even if nobody may sell it now. If the tariff is newer than the copy, the directory is read
   * again.
   */
  tariffOf(tariffId: number): Promise<Tariff>
  /** All tariffs, for the platform's operator. */
  tariffs(): Tariff[]
  operatorByCode(code: string): MobileOperator | undefined
}

export function createCatalogue(database: Queryable): Catalogue {
  let version = -1
  let operators: MobileOperator[] = []
  let byCode = new Map<string, MobileOperator>()
  // Tariffs are never removed.
  const tariffsById = new Map<number, Tariff>()
  let banks = new Map<string, BankTerms>()
  let permitted = new Map<string, readonly MobileOperator[]>()

  /**
   * The terms of a bank. They may be missing for a new bank, because its token may arrive before the notification about
   * the bank.
   * @throws DomainError 'unavailable' if the copy does not contain the bank
   */
  const termsOf = (bankId: string): BankTerms => {
    const bank = banks.get(bankId)
    if (bank) return bank
    throw new DomainError('unavailable', 'This bank is not known here yet; try again', { retryAfterSeconds: 2 })
  }

  const permits = (bankId: string, operator: MobileOperator): boolean => {
    const bank = termsOf(bankId)
    if (operator.status !== 'active') return false
    return bank.allOperators || bank.operators.has(operator.mobileOperatorId)
  }

  const refresh = async (): Promise<void> => {
    const [row] = await database.query<{ version: number }>('select version from directory_version')
    if (!row || row.version <= version) return
    const [readOperators, readBanks] = await Promise.all([selectOperators(database), selectBanks(database)])
    // Another refresh may have finished first. Then the copy is already at least as new as the rows that this refresh
    // has read.
    if (row.version <= version) return
    operators = readOperators
    byCode = new Map(readOperators.map(operator => [operator.code, operator]))
    for (const operator of readOperators)
      for (const tariff of operator.tariffs.values()) tariffsById.set(tariff.tariffId, tariff)
    banks = readBanks
    permitted = new Map()
    version = row.version
  }

  return {
    refresh,
    version: () => version,
    operatorsFor(bankId) {
      const known = permitted.get(bankId) ?? operators.filter(operator => permits(bankId, operator))
      permitted.set(bankId, known)
      return known
    },
    operatorFor(bankId, operatorCode) {
      // Check first that the copy contains the bank: `termsOf` throws 'unavailable' otherwise. A copy without the bank
      // may also lack the operator, and the caller must not conclude that the operator does not exist.
      termsOf(bankId)
      const operator = byCode.get(operatorCode)
      return operator && permits(bankId, operator) ? operator : undefined
    },
    bank: termsOf,
    async tariffOf(tariffId) {
      if (!tariffsById.has(tariffId)) await refresh()
      const tariff = tariffsById.get(tariffId)
      if (!tariff) throw new Error('An order has a tariff that the directory does not hold')
      return tariff
    },
    tariffs: () => operators.flatMap(operator => [...operator.tariffs.values()]),
    operatorByCode: code => byCode.get(code),
  }
}

async function selectOperators(database: Queryable): Promise<MobileOperator[]> {
  const operators = await database.query<Omit<MobileOperator, 'tariffs'>>(
    `select mobile_operator_id as "mobileOperatorId", code, name_uk as "nameUk", name_en as "nameEn", logo_url as "logoUrl",
            country, status
     from mobile_operators order by mobile_operator_id`,
  )
  const tariffs = await database.query<Tariff & { mobileOperatorId: number }>(
    `select t.tariff_id as "tariffId", t.mobile_operator_id as "mobileOperatorId", o.code as "operatorCode", t.code, t.name,
            t.description, t.price::text, t.currency, t.data_volume_mb as "dataVolumeMb", t.data_unlimited as "dataUnlimited",
            t.voice_minutes as "voiceMinutes", t.voice_unlimited as "voiceUnlimited", t.sms_count as "smsCount",
            t.sms_unlimited as "smsUnlimited", t.validity_days as "validityDays", t.on_sale as "onSale"
     from tariffs t join mobile_operators o using (mobile_operator_id) order by t.position, t.tariff_id`,
  )
  return operators.map(operator => {
    const own = tariffs.filter(tariff => tariff.mobileOperatorId === operator.mobileOperatorId)
    return { ...operator, tariffs: new Map(own.map(tariff => [tariff.code, tariff])) }
  })
}

async function selectBanks(database: Queryable): Promise<Map<string, BankTerms>> {
  type Row = {
    bank_id: string
    name: string
    mode: DeliveryMode
    share: number | null
    all_operators: boolean
    operators: number[]
  }
  const rows = await database.query<Row>(
    `select b.bank_id, b.name, b.esim_delivery_mode as mode, b.esim_reservation_share as share, b.esim_all_operators as all_operators,
            coalesce(array_agg(o.mobile_operator_id) filter (where o.mobile_operator_id is not null), '{}') as operators
     from banks b left join bank_mobile_operators o using (bank_id) group by b.bank_id`,
  )
  return new Map(
    rows.map(row => [
      row.bank_id,
      {
        name: row.name,
        deliveryMode: row.mode,
        reservationShare: row.share,
        allOperators: row.all_operators,
        operators: new Set(row.operators),
      },
    ]),
  )
}
