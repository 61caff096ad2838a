/**
 * The sample campaigns: one in each state. The platform's own operations make them, each with a clock set to a moment
 * in the past. So the history of a campaign looks real.
 */
import { Readable } from 'node:stream'
import type { BankCaller, MerchantCaller } from '../caller.ts'
import type { CampaignDeps } from '../campaigns/deps.ts'
import { confirm, reject } from '../campaigns/for-bank/operations.ts'
import { launch, remove } from '../campaigns/for-merchant/operations.ts'
import { createAsBank, createAsMerchant } from '../campaigns/form/create.ts'
import { updateDueCampaigns } from '../campaigns/lifecycle/clock-job.ts'
import type { Database } from '../db/database.ts'
import { acceptReport, acknowledge, pay, settle } from '../reconciliation/operations.ts'
import { uploadReport } from '../reconciliation/uploads.ts'
import { formSegment } from '../segments/operations.ts'
import { dayOf, startOfDay } from '../text/days.ts'

const dayMs = 86_400_000

type SampleCast = {
  alpha: BankCaller
  beta: BankCaller
  grocer: MerchantCaller
  voltshop: MerchantCaller
  paymentSystemsId: string[]
}

/** Reads the partners of the sample campaigns from the directory, which must have been applied before. */
async function castOf(database: Database): Promise<SampleCast> {
  const ids = await database.query<{ code: string; id: string }>(
    `select code, bank_id as id from banks where code in ('alpha', 'beta')
     union all select code, merchant_id from merchants where code in ('grocer', 'voltshop')`,
  )
  const idOf = (code: string): string => {
    const found = ids.find(row => row.code === code)
    if (!found) throw new Error(`The sample directory has no ${code}`)
    return found.id
  }
  const system = { userType: 'gateway_user', subject: 'sample' } as const
  const bank = (code: string): BankCaller => ({ ...system, type: 'bank', bankId: idOf(code), role: 'ADMIN' })
  const merchant = (code: string): MerchantCaller => ({
    ...system,
    type: 'retailer',
    merchantId: idOf(code),
    role: 'gateway',
  })
  const systems = await database.query<{ id: string }>(
    'select payment_system_id as id from payment_systems order by code',
  )
  return {
    alpha: bank('alpha'),
    beta: bank('beta'),
    grocer: merchant('grocer'),
    voltshop: merchant('voltshop'),
    paymentSystemsId: systems.map(({ id }) => id),
  }
}

type Stage = {
  cast: SampleCast
  /**
   * The dependencies of operations, with the clock set to this day. Days are counted from now; past days are negative.
   */
  on(day: number): CampaignDeps
  /** The midnight in Kyiv at which this day begins, as ISO 8601. Days are counted from now. */
  date(day: number): string
}

/**
 * Makes all sample campaigns. First it deletes the sample campaigns of an interrupted first start; nobody has had
 * access to these.
 *
 * @param options.now the instant from which the days of the campaigns count
 */
export async function makeSampleCampaigns(
  database: Database,
  options: { now: Date; completeAfterMs: number },
): Promise<void> {
  if ((await database.query('select from campaigns limit 1')).length > 0)
    await database.execute('truncate campaigns, report_lines, report_differences cascade')
  const instant = (day: number) => new Date(options.now.getTime() + day * dayMs)
  const stage: Stage = {
    cast: await castOf(database),
    on: day => ({
      database,
      completeAfterMs: options.completeAfterMs,
      clock: { now: () => instant(day), offsetMs: () => 0, setOffsetMs() {} },
    }),
    date: day => startOfDay(dayOf(instant(day), kyiv), kyiv).toISOString(),
  }
  for (const story of stories) await story(stage)
}

/** Sample campaigns are Ukrainian: their days begin and end in Kyiv's time zone. */
const kyiv = 'Europe/Kyiv'

type Offer = { name: string; description: string; percentage: number; from: number; to: number }

const terminalsOf = (merchant: MerchantCaller, { cast }: Stage): string[] =>
  merchant === cast.voltshop ? ['V-1001', 'V-1002', 'V-2001'] : ['T-0001', 'T-0002', 'T-0003']

const offer = ({ cast, date }: Stage, terms: Offer) => ({
  name: terms.name,
  description: terms.description,
  dateFrom: date(terms.from),
  dateTo: date(terms.to),
  minAmount: 100,
  maxAmount: 20_000,
  maxBudget: 250_000,
  percentage: terms.percentage,
  countryCode: 'UA',
  terminalsPlatform: true,
  paymentSystemsId: cast.paymentSystemsId,
  merchantCompensationPercentage: 60,
})

/** The merchant creates a campaign two weeks before its start. @returns the campaign's id */
async function plan(stage: Stage, merchant: MerchantCaller, banks: BankCaller[], terms: Offer): Promise<string> {
  const body = { ...offer(stage, terms), participantsIds: banks.map(({ bankId }) => bankId) }
  const created = await createAsMerchant(stage.on(Math.min(terms.from - 14, -1)), merchant, { body, schemaErrors: [] })
  return created.cashbackId
}

/** Creates a campaign, lets every bank confirm it, launches it, and starts it if its day has come. */
async function run(stage: Stage, merchant: MerchantCaller, banks: BankCaller[], terms: Offer): Promise<string> {
  const cashbackId = await plan(stage, merchant, banks, terms)
  const agreed = stage.on(Math.min(terms.from - 10, -0.8))
  for (const bank of banks) await confirm(agreed, { bank, cashbackId })
  await launch(stage.on(Math.min(terms.from - 9, -0.7)), { merchant, cashbackId })
  for (const day of [terms.from, terms.to]) if (day <= 0) await passDay(stage, day)
  return cashbackId
}

async function passDay(stage: Stage, day: number): Promise<void> {
  while (await updateDueCampaigns(stage.on(day), true));
}

const reportHeader = 'transactionId,terminalId,transactionAt,amount,cashbackAmount\n'

/** A bank's report of purchases on the days of the campaign. @param options.wrong how many lines show a cashback that is too high */
function reportText(
  stage: Stage,
  offered: Offer,
  options: { merchant: MerchantCaller; lines: number; wrong: number },
): string {
  const { lines, wrong, merchant } = options
  const terminals = terminalsOf(merchant, stage)
  const [startMs, endMs] = [Date.parse(stage.date(offered.from)), Date.parse(stage.date(offered.to))]
  const rows = Array.from({ length: lines }, (_, index) => {
    // Whole hryvnias, so that a whole percentage of the amount has at most two decimals.
    const amount = 150 + ((index * 7919) % 2_400)
    const cents = amount * offered.percentage + (index < wrong ? 100 : 0)
    const cashback = (cents / 100).toFixed(2)
    const at = new Date(startMs + ((endMs - startMs) * (index + 0.5)) / lines).toISOString()
    return `TX-${index + 1},${terminals[index % terminals.length]},${at},${amount}.00,${cashback}\n`
  })
  return reportHeader + rows.join('')
}

const bytesOf = (text: string) => Readable.from([Buffer.from(text)])

async function report(stage: Stage, day: number, bank: BankCaller, cashbackId: string, text: string): Promise<void> {
  await uploadReport(stage.on(day), {
    caller: bank,
    cashbackId,
    bankId: bank.bankId,
    side: 'bank',
    open: async () => ({ fileName: 'purchases.csv', bytes: bytesOf(text), comment: () => null }),
  })
}

/** For each bank, uploads the report, accepts it and confirms settlement, on the days after the campaign's end. */
async function settleAll(
  stage: Stage,
  merchant: MerchantCaller,
  banks: BankCaller[],
  terms: Offer,
  cashbackId: string,
): Promise<void> {
  for (const bank of banks) {
    await report(stage, terms.to + 1, bank, cashbackId, reportText(stage, terms, { merchant, lines: 40, wrong: 0 }))
    const params = { caller: merchant, cashbackId, bankId: bank.bankId }
    await acceptReport(stage.on(terms.to + 2), params)
    await settle(stage.on(terms.to + 3), params)
  }
}

type Story = (stage: Stage) => Promise<void>

/**
 * Each function makes one campaign. `passDay` makes all changes that are due on a day, for all campaigns made so far.
 * The functions are in such an order that only the newest campaign has changes that are due.
 */
const stories: Story[] = [
  async function completed(stage) {
    const { grocer, alpha, beta } = stage.cast
    const terms = { name: 'Весняні знижки', description: 'Кешбек на все', percentage: 5, from: -120, to: -90 }
    const cashbackId = await run(stage, grocer, [alpha, beta], terms)
    await settleAll(stage, grocer, [alpha, beta], terms, cashbackId)
    await pay(stage.on(-80), { caller: grocer, cashbackId })
    for (const bank of [alpha, beta]) await acknowledge(stage.on(-78), { caller: bank, cashbackId })
    await passDay(stage, -48)
  },
  async function compensationReceived(stage) {
    const { voltshop, alpha } = stage.cast
    const terms = {
      name: 'Техніка: подвійний кешбек',
      description: '6 % на техніку',
      percentage: 6,
      from: -60,
      to: -30,
    }
    const cashbackId = await run(stage, voltshop, [alpha], terms)
    await settleAll(stage, voltshop, [alpha], terms, cashbackId)
    await pay(stage.on(-20), { caller: voltshop, cashbackId })
    await acknowledge(stage.on(-15), { caller: alpha, cashbackId })
  },
  async function paymentConfirmed(stage) {
    const { grocer, alpha } = stage.cast
    const terms = { name: 'Літній кошик', description: '4 % на овочі', percentage: 4, from: -55, to: -25 }
    const cashbackId = await run(stage, grocer, [alpha], terms)
    await settleAll(stage, grocer, [alpha], terms, cashbackId)
    await pay(stage.on(-18), { caller: grocer, cashbackId })
  },
  async function awaitingCompensationPayment(stage) {
    const { grocer, beta } = stage.cast
    const terms = { name: 'До школи', description: '3 % на все', percentage: 3, from: -50, to: -20 }
    const cashbackId = await run(stage, grocer, [beta], terms)
    await settleAll(stage, grocer, [beta], terms, cashbackId)
  },
  async function awaitingCompensationConfirmation(stage) {
    const { grocer, alpha, beta } = stage.cast
    const terms = { name: 'Оксамитовий сезон', description: '5 % на все', percentage: 5, from: -40, to: -10 }
    const cashbackId = await run(stage, grocer, [alpha, beta], terms)
    await report(stage, -8, beta, cashbackId, reportText(stage, terms, { merchant: grocer, lines: 120, wrong: 4 }))
  },
  async function expired(stage) {
    const { grocer, alpha } = stage.cast
    const terms = { name: 'Не встигли', description: 'Ніхто не вирішив вчасно', percentage: 2, from: -35, to: -28 }
    await plan(stage, grocer, [alpha], terms)
    await passDay(stage, terms.to)
  },
  async function active(stage) {
    const { grocer, alpha, beta } = stage.cast
    const terms = { name: 'Осінь: 5 % на все', description: '5 % з кожної покупки', percentage: 5, from: -6, to: 24 }
    const cashbackId = await run(stage, grocer, [alpha, beta], terms)
    // The segment has 60 sample customers of each bank: every third one of the first 180.
    const ids = ['C', 'B'].flatMap(bank =>
      Array.from({ length: 60 }, (_, n) => `${bank}-${String(3 * n + 1).padStart(6, '0')}`),
    )
    await formSegment(stage.on(-5), {
      merchant: grocer,
      cashbackId,
      open: async () => ({ fileName: 'loyal-customers.csv', bytes: bytesOf(`customerId\n${ids.join('\n')}\n`) }),
    })
  },
  async function activeOfABank(stage) {
    const { cast } = stage
    const terms = { name: 'Тиждень Beta', description: '7 % для клієнтів Beta', percentage: 7, from: -2, to: 12 }
    const body = { ...offer(stage, terms), retailerId: cast.grocer.merchantId }
    const { cashbackId } = await createAsBank(stage.on(-12), cast.beta, { body, schemaErrors: [] })
    await confirm(stage.on(-11), { bank: cast.beta, cashbackId })
    await passDay(stage, terms.from)
  },
  async function declined(stage) {
    const { cast } = stage
    const terms = { name: 'Alpha й техніка', description: '2 % на техніку', percentage: 2, from: 5, to: 35 }
    const body = { ...offer(stage, terms), retailerId: cast.voltshop.merchantId }
    const { cashbackId } = await createAsBank(stage.on(-9), cast.alpha, { body, schemaErrors: [] })
    await reject(stage.on(-8), { bank: cast.alpha, cashbackId, comment: 'Умови ще узгоджуються' })
  },
  async function deleted(stage) {
    const { voltshop, alpha } = stage.cast
    const terms = { name: 'Помилкова', description: 'Створено двічі', percentage: 5, from: 3, to: 13 }
    const cashbackId = await plan(stage, voltshop, [alpha], terms)
    await remove(stage.on(-0.9), { merchant: voltshop, cashbackId })
  },
  async function approved(stage) {
    const { voltshop, alpha } = stage.cast
    const terms = { name: 'Кіберпонеділок', description: '8 % на все', percentage: 8, from: 9, to: 16 }
    await run(stage, voltshop, [alpha], terms)
  },
  async function awaitingMerchantApproval(stage) {
    const { grocer, alpha, beta } = stage.cast
    const terms = { name: 'Новорічний стіл', description: '4 % на все', percentage: 4, from: 20, to: 45 }
    const cashbackId = await plan(stage, grocer, [alpha, beta], terms)
    await confirm(stage.on(-0.6), { bank: alpha, cashbackId })
    await reject(stage.on(-0.5), { bank: beta, cashbackId, comment: 'Not this season' })
  },
  async function awaitingBankApproval(stage) {
    const { grocer, alpha, beta } = stage.cast
    const terms = { name: 'Чорна п’ятниця', description: '10 % один тиждень', percentage: 10, from: 6, to: 13 }
    await plan(stage, grocer, [alpha, beta], terms)
  },
]
