/** The sizes of a world (a database with generated data, see `world.ts`), and its special partners. */

export type Sizes = {
  orders: number
  profiles: number
  campaigns: number
  banks: number
  /**
   * The percentage of all orders that belong to the big bank. A larger share gives this bank many orders even in a
   * small world, which takes less time to create.
   */
  share: number
}

export const sizeNames = [
  'orders',
  'profiles',
  'campaigns',
  'banks',
  'share',
] as const satisfies readonly (keyof Sizes)[]

/**
 * The codes of banks with a special role, in the order of their numbers; all other banks only take part in campaigns.
 */
export const banks = {
  /** This bank has 40 % of all orders, or the percentage that `share` sets. */
  big: 0,
  /** A hundred orders, spread over the year. */
  tiny: 1,
  /** A twentieth of all orders. */
  seller: 2,
  /** Takes part in fifty campaigns, in a world of any size. */
  steady: 3,
  /** Takes part in a tenth of all campaigns. */
  busy: 4,
} as const
export const merchants = {
  /** Has a tenth of all campaigns. */
  large: 0,
  /** Has a hundred campaigns, in a world of any size. */
  small: 1,
} as const

export const ordersOfTiny = 100
export const campaignsOfSteady = 50
export const campaignsOfSmall = 100
export const banksOfCampaign = 10

export const operators = 30
export const tariffsOfOperator = 10
export const tariffs = operators * tariffsOfOperator
/** The number of the operator whose tariffs are sold only by banks other than `big` and `tiny`. */
export const othersOperator = operators
export const operatorCode = (number: number): string => `operator-${number}`
export const tariffCode = (number: number): string => `tariff-${number}`

/** The number of profiles of each tariff; their ids are consecutive. */
export const profilesOfTariff = ({ profiles }: Sizes): number => Math.floor(profiles / tariffs)
export const firstProfile = (sizes: Sizes, tariff: number): number => (tariff - 1) * profilesOfTariff(sizes) + 1

export const merchantsIn = ({ campaigns }: Sizes): number => Math.max(10, Math.round(campaigns / 100))

/** Percentages of all orders: the default share of the big bank, and the share of the bank `seller`. */
export const usualShare = 40
export const sellerShare = 5

/** Orders were made over a year, up to an hour ago, so none of them is an open reservation. */
export const yearMs = 365 * 86_400_000
export const latestOrderMs = 3_600_000

/**
 * Returns how many profiles a tariff has sold with this number of orders. One order in ten ends without a sale, and the
 * next order sells the profile that it had reserved.
 */
const soldOf = (orders: number): number => orders - Math.ceil(orders / 10)

/** @throws Error when a world cannot have these sizes */
export function checkSizes(sizes: Sizes): void {
  if (sizes.share + sellerShare > 100) throw new Error(`--share must be at most ${100 - sellerShare}`)
  const least = banksOfCampaign + Object.keys(banks).length + 1
  if (sizes.banks < least) throw new Error(`--banks must be at least ${least}`)
  if (sizes.orders < tariffs * 20) throw new Error(`--orders must be at least ${tariffs * 20}`)
  if (soldOf(Math.ceil(sizes.orders / tariffs)) >= profilesOfTariff(sizes))
    throw new Error('--profiles must be more than nine tenths of --orders')
}
