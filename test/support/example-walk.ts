/**
 * Calls every operation of the OpenAPI documents on a platform with sample data, using the example of its document.
 * The answers become the documents' examples. A new operation needs a step here; then `npm run examples` records its
 * example.
 */
import assert from 'node:assert/strict'
import { profileLines } from '../../samples/make-profiles.ts'
import { createLogger } from '../../src/log.ts'
import { loadSamples, type Samples } from '../../src/sandbox/samples.ts'
import { codeOf } from './people.ts'
import { type Answer, startPlatform, type TestPlatform } from './platform.ts'
import { type Address, refusalsOf } from './refusal-walk.ts'

type Caller = 'alpha' | 'beta' | 'grocer' | 'operator' | 'person' | 'nobody'
type Step = {
  as?: Caller
  /** Values in the path. */
  path?: Record<string, string>
  query?: Record<string, string>
  /** The body, which becomes the example. */
  body?: unknown
  /** Values in the body that differ between platforms, such as secrets. */
  live?: Record<string, unknown>
  file?: { content: string; fields?: Record<string, string> }
  csv?: string
  status?: number
}
export type Exchange = { operationId: string; status: number; request?: unknown; answer: Answer; path: string }
type Addresses = Map<string, Address>

/** @param inspect runs on the platform after all calls */
export async function walkExamples(
  addresses: Addresses,
  inspect: (platform: TestPlatform, exchanges: Exchange[]) => Promise<void> = async () => {},
): Promise<Exchange[]> {
  const loaded: Samples[] = []
  const settings = { PUBLIC_URL: 'http://127.0.0.1:8080' }
  const platform = await startPlatform(settings, {
    directory: null,
    // The samples are loaded before the jobs start, because the jobs would change them.
    async prepare(empty) {
      const made = await loadSamples(empty, createLogger('silent'))
      if (made) loaded.push(made)
    },
  })
  try {
    const [samples] = loaded
    assert.ok(samples)
    const exchanges: Exchange[] = []
    const tokens = new Map<Caller, string>([['operator', platform.config.operatorKey]])
    let cookie = ''
    const call = async (operationId: string, step: Step = {}): Promise<any> => {
      const address = addresses.get(operationId)
      assert.ok(
        address,
        `the documents have no operation ${operationId}: take its step out of test/support/example-walk.ts`,
      )
      const token = (as: Caller = 'alpha') => ({ token: tokens.get(as) ?? null, cookie: as === 'person' ? cookie : '' })
      const isFirst = !exchanges.some(one => one.operationId === operationId)
      const shared = { operationId, path: address.path }
      for (const wrong of isFirst ? refusalsOf(address, step) : []) {
        const answer = await send(platform, address, { step: wrong, ...token(wrong.as) })
        // Keeps only calls that were refused, because a call with a changed value may still succeed.
        if (answer.status >= 400) exchanges.push({ ...shared, status: answer.status, answer })
      }
      const answer = await send(platform, address, { step, ...token(step.as) })
      const expected = step.status ?? 200
      assert.equal(answer.status, expected, `${operationId}: ${answer.status} ${answer.text.slice(0, 500)}`)
      exchanges.push({ ...shared, status: answer.status, request: step.body ?? step.csv, answer })
      if (operationId === 'openSession' && answer.status === 200)
        cookie = (answer.headers.getSetCookie()[0] ?? '').split(';', 1)[0] ?? ''
      return answer.body
    }
    for (const { partner, clientId, secret } of samples.credentials) {
      const body = { clientId: 'pk_sample_alpha', secret: 'keep-it-secret' }
      const { access_token } = await call('issueToken', { as: 'nobody', body, live: { clientId, secret } })
      tokens.set(partner as Caller, access_token)
    }
    const login = samples.logins.find(one => one.login === 'alpha')
    const live = { login: login?.login, password: login?.password }
    const body = { typeAccount: 'bank', login: 'alpha', password: 'the password of the first start' }
    await call('logIn', { as: 'nobody', body, live })
    await call('openSession', { as: 'nobody', body, live })
    await walkPortal(call)
    await walkPeople(call, String(login?.password))
    await walkOrders(call)
    await walkCampaigns(call)
    await walkStatements(call)
    await walkOperator(call)
    await walkAuditLog(call)
    await walkEvents(call)
    await walkWebhooks(call)
    await call('endSession', { as: 'person', status: 204 })
    await inspect(platform, exchanges)
    return exchanges
  } finally {
    await platform.close()
  }
}

type Call = (operationId: string, step?: Step) => Promise<any>

async function send(
  platform: TestPlatform,
  address: Address,
  { step, token, cookie }: { step: Step; token: string | null; cookie: string },
): Promise<Answer> {
  const { method } = address
  const query = new URLSearchParams(step.query).toString()
  const filled = address.path.replace(/\{(\w+)\}/g, (_, name: string) => encodeURIComponent(step.path?.[name] ?? ''))
  const path = `${filled}${query && `?${query}`}`
  const sent = step.body === undefined && !step.live ? undefined : { ...(step.body as object), ...step.live }
  const headers = { ...(cookie && { cookie, 'sec-fetch-site': 'same-origin' }) }
  if (step.csv !== undefined)
    return platform.call(method, path, { token, raw: step.csv, headers: { ...headers, 'content-type': 'text/csv' } })
  if (step.file) {
    const form = new FormData()
    for (const [name, value] of Object.entries(step.file.fields ?? {})) form.append(name, value)
    form.append('file', new Blob([step.file.content], { type: 'text/csv' }), 'example.csv')
    const response = new Response(form)
    const type = response.headers.get('content-type') ?? ''
    const raw = new Uint8Array(await response.arrayBuffer())
    return platform.call(method, path, { token, raw, headers: { ...headers, 'content-type': type } })
  }
  return platform.call(method, path, { token, headers, ...(sent !== undefined && { body: sent }) })
}

async function walkEvents(call: Call): Promise<void> {
  await call('listEventTypes')
  // Moving the clock also numbers the recorded events, so that there is one to read.
  await call('moveClock', { as: 'nobody', body: { advance: 'PT15M' } })
  const { data } = await call('readEvents', { query: { limit: '2' } })
  await call('readEvent', { path: { eventId: data[0].id } })
}

async function walkWebhooks(call: Call): Promise<void> {
  const body = { url: 'https://bank.example/perkline', eventTypes: ['order.*'] }
  const live = { url: 'http://127.0.0.1:9/perkline' }
  const { endpointId } = await call('createEndpoint', { body, live, status: 201 })
  const path = { endpointId }
  await call('listEndpoints')
  await call('readEndpoint', { path })
  await call('changeEndpoint', { path, body: { description: 'Core banking' } })
  await call('rotateEndpointSecret', { path, body: { overlap: 'PT24H' } })
  const { deliveryId } = await call('testEndpoint', { path, body: { type: 'order.confirmed' }, status: 202 })
  await call('readDelivery', { path: { deliveryId } })
  await call('replayEvents', { path, body: { from: 1, only: 'all' }, status: 202 })
  await call('deliverWebhooks', { as: 'nobody' })
  const { data } = await call('listDeliveries', { query: { limit: '2', state: 'pending' } })
  await call('retryDelivery', { path: { deliveryId: data[0].deliveryId }, status: 202 })
  await call('skipDelivery', { path: { deliveryId: data[0].deliveryId } })
  await call('listAllEndpoints', { as: 'operator' })
  await call('rotateAnyEndpointSecret', { as: 'operator', path, body: { overlap: 'PT1H' } })
  await call('replayAnyEvents', { as: 'operator', path, body: { from: 1, only: 'all' }, status: 202 })
  await call('disableAnyEndpoint', { as: 'operator', path })
  await call('enableAnyEndpoint', { as: 'operator', path })
  await call('readNewestEvents', { as: 'operator', query: { bank: 'alpha', limit: '2' } })
  await call('readEventsStatus', { as: 'operator' })
  await call('disableEndpoint', { path })
  await call('enableEndpoint', { path, body: { resume: 'now' } })
  await call('deleteEndpoint', { path, status: 204 })
  await call('restartFeeds', { as: 'operator' })
}

async function walkPortal(call: Call): Promise<void> {
  await call('readSession', { as: 'person' })
  await call('readDirectory')
  await call('readHome')
  await call('readClock', { as: 'nobody' })
  await call('moveClock', { as: 'nobody', body: { advance: 'PT15M' } })
  await call('resetClock', { as: 'nobody' })
}

async function walkPeople(call: Call, password: string): Promise<void> {
  const person = { as: 'person' } as const
  const passphrase = 'correct horse battery staple'
  const invited = { login: 'olena.k', role: 'EDITOR' }
  const { link } = await call('invitePerson', { ...person, body: invited, status: 201 })
  const token = '9rZc1hJ0b2VnYw7rJm4Qk3tXe8sLp6uDf5aGi2oNBvE'
  const accept = { token, password: passphrase }
  const live = { token: String(link).split('#')[1] }
  await call('acceptLink', { as: 'nobody', body: accept, live, status: 201 })
  const other = await call('invitePerson', { ...person, body: invited, live: { login: 'petro.k' }, status: 201 })
  await call('listInvitations', person)
  await call('withdrawInvitation', { ...person, path: { invitationId: other.invitationId }, status: 204 })
  const { data } = await call('listPeople', person)
  const userId = data.find((one: { login: string }) => one.login === invited.login).userId
  await call('changePerson', { ...person, path: { userId }, body: { role: 'VIEWER' } })
  await call('resetPassword', { ...person, path: { userId } })
  await call('resetFactors', { ...person, path: { userId }, status: 204 })
  const leaver = { as: 'person', path: { userId } } as const
  await call('erasePerson', { ...leaver, status: 409 })
  await call('disableUser', { as: 'operator', path: { login: 'olena.k' } })
  await call('erasePerson', { ...leaver, status: 204 })
  const forgotten = { typeAccount: 'bank', login: 'olena.k' }
  await call('requestPasswordReset', { as: 'nobody', body: forgotten, status: 202 })
  await call('readSecurityPolicy', person)
  const addresses = { people: [], systems: [] }
  await call('setSecurityPolicy', { ...person, body: { mfa: 'optional', sessionMinutes: 120, addresses } })
  const credential = { role: 'EDITOR', label: 'Core banking' }
  const { clientId } = await call('issueOwnCredential', { ...person, body: credential, status: 201 })
  await call('rotateOwnCredential', { ...person, path: { clientId }, body: { overlap: 'PT1H' } })
  await call('listOwnCredentials', person)
  await call('revokeOwnCredential', { ...person, path: { clientId } })
  await call('setLanguage', { ...person, body: { language: 'uk' }, status: 204 })
  await call('readFactors', person)
  const { secret } = await call('beginTotp', person)
  await call('confirmTotp', { ...person, body: { code: '123456' }, live: { code: codeOf(secret) } })
  const { recoveryCodes } = await call('renewRecoveryCodes', { ...person, status: 201 })
  const login = { typeAccount: 'bank', login: 'alpha', password: 'the password of the first start' }
  const { challenge } = await call('openSession', { as: 'nobody', body: login, live: { password }, status: 202 })
  await call('verifyFactor', {
    as: 'nobody',
    body: { challenge: token, method: 'recovery-code', code: 'x7k2m-9q4tr' },
    live: { challenge, code: recoveryCodes[0] },
  })
  await call('removeTotp', { ...person, status: 204 })
  const passwords = { current: 'the password of the first start', password: passphrase }
  await call('changePassword', { ...person, body: passwords, live: { current: password }, status: 204 })
  await call('listSessions', person)
  const sessionId = '00000000-0000-4000-8000-000000000000'
  await call('endOneSession', { ...person, path: { sessionId }, status: 404 })
  await call('endOtherSessions', { ...person, status: 204 })
}

async function walkOrders(call: Call): Promise<void> {
  await call('listOperators')
  await call('listTariffs', { path: { operatorCode: 'kyivstar' } })
  const body = { operatorCode: 'kyivstar', tariffCode: 'eu-10gb', externalId: 'payment-20261121-000042' }
  const { orderId } = await call('reserveOrder', { body, status: 201 })
  const path = { orderId }
  await call('reserveOrder', { body })
  await call('reserveOrder', { body, live: { tariffCode: 'ua-5gb' }, status: 409 })
  await call('readOrder', { path })
  await call('readOrderQr', { path, status: 409 })
  await call('confirmOrder', { path, body: { customerEmail: 'customer@example.com' } })
  await call('readOrderQr', { path, query: { format: 'base64' } })
  await call('cancelOrder', { path, status: 409 })
  const other = await call('reserveOrder', { body, live: { externalId: 'payment-20261121-000043' }, status: 201 })
  await call('cancelOrder', { path: { orderId: other.orderId } })
  await call('confirmOrder', { path: { orderId: other.orderId }, status: 409 })
  await call('findOrders')
  const search = { msisdn: '+999000200000000' }
  await call('searchOrderByProfile', { body: search })
  await call('searchAnyOrderByProfile', { as: 'operator', body: search })
  await call('exportOrders')
  await call('readSales')
  await call('readStock')
  await call('findAllOrders', { as: 'operator' })
  await call('readPortalOrder', { path })
  await call('readAnyOrder', { as: 'operator', path })
}

const period = { dateFrom: '2030-01-01T00:00:00Z', dateTo: '2030-02-01T00:00:00Z' }
const bankId = '6f1d0c52-7a3e-4b8c-9d21-0a5be7c4f101'
const merchantId = '2c9b7e14-5d60-4f3a-8b17-93d0a6e5c201'
const form = {
  name: 'Зима: 5 % на все',
  description: '5 % back on every purchase',
  ...period,
  minAmount: 100,
  maxAmount: 5000,
  maxBudget: 100000,
  percentage: 5,
  countryCode: 'UA',
  terminalsPlatform: true,
  paymentSystemsId: ['5b0c3c1e-0d0a-4c5e-8f56-2f6b1a1d0001'],
  merchantCompensationPercentage: 60,
  merchantCategoryCode: ['5411'],
}
const reportHeader = 'transactionId,terminalId,transactionAt,amount,cashbackAmount'
const report = (amount: string, cashback: string) =>
  `${reportHeader}\nTX-1,T-0001,2030-01-05T10:00:00Z,${amount},${cashback}\nTX-2,T-0002,2030-01-06T10:00:00Z,1000.00,50.00\n`

async function walkCampaigns(call: Call): Promise<void> {
  const merchant = { as: 'grocer' } as const
  await call('listConnectedBanks', merchant)
  await call('listRetailers')
  await call('readRetailer', { path: { id: merchantId } })
  const body = { participantsIds: [bankId], ...form }
  const { id: cashbackId } = await call('createCampaign', { ...merchant, body, status: 201 })
  const path = { cashbackId }
  const own = { ...merchant, path }
  await call('launchCampaign', { ...own, status: 400 })
  await call('listOwnCampaigns', merchant)
  await call('readCampaign', own)
  await call('editCampaign', { ...own, body: { description: '5 % back on every purchase, also online' } })
  await call('readOwnTerminals', own)
  await call('formSegment', { ...own, file: { content: 'customerId\nC-000001\nC-000002\n' } })
  await call('readSegment', { path })
  await call('downloadSegment', { path })
  await call('findTerminals', { path })
  await call('downloadTerminals', { path })
  await call('listBankCampaigns')
  await call('findBankCampaigns')
  await call('exportCampaigns')
  await call('readBankCampaign', { path })
  await call('confirmParticipation', { path, status: 201 })
  await call('launchCampaign', { ...own, status: 201 })
  await call('rejectParticipation', { path, status: 400 })

  const refused = await call('createCampaign', { ...merchant, body, status: 201 })
  const comment = { comment: 'Not this season' }
  await call('rejectParticipation', { path: { cashbackId: refused.id }, body: comment, status: 201 })
  await call('deleteCampaign', { ...merchant, path: { cashbackId: refused.id } })
  await call('createCampaignAsBank', { body: { retailerId: merchantId, ...form }, status: 201 })

  await call('moveClock', { as: 'nobody', live: { advance: undefined, now: '2030-02-02T00:00:00Z' } })
  await call('uploadBankReport', { path, query: { dryRun: 'true' }, file: { content: report('500.00', '25.00') } })
  const { reportId } = await call('uploadBankReport', {
    path,
    file: { content: report('500.00', '25.00') },
    status: 201,
  })
  const ofBank = { ...merchant, path: { cashbackId, bankId } }
  const answer = { content: report('400.00', '20.00'), fields: { comment: 'TX-1 was 400' } }
  await call('uploadMerchantReport', { ...ofBank, query: { dryRun: 'true' }, file: answer })
  await call('uploadMerchantReport', { ...ofBank, file: answer, status: 201 })
  await call('readReconciliation', own)
  await call('findDifferences', ofBank)
  await call('downloadDifferences', ofBank)
  await call('downloadReport', { path: { reportId } })
  await call('uploadBankReport', { path, file: { content: report('400.00', '20.00') }, status: 201 })
  await call('acceptReport', ofBank)
  await call('confirmSettlement', ofBank)
  await call('confirmPayment', own)
  await call('acknowledgeCompensation', { path })
  await call('readHistory', { path })
  await call('readDecisions', own)
  await call('readSettlementAct', own)
  await call('downloadSettlementAct', own)
  const operator = { as: 'operator' } as const
  await call('completeCampaign', { ...operator, path })
  await call('findCampaigns', operator)
  await call('readAnyCampaign', { ...operator, path })
  await call('readAnyHistory', { ...operator, path })
}

/** Runs after the clock has passed the day of the orders. */
async function walkStatements(call: Call): Promise<void> {
  const query = { from: '2029-12-30', to: '2030-02-02' }
  const { data: orders } = await call('listOrders')
  const [{ orderId, externalId }] = orders
  await call('findOrderByExternalId', { query: { externalId } })
  await call('readPartnerOrder', { path: { orderId } })
  await call('readOrderTimeline', { path: { orderId } })
  await call('exportPartnerOrders')
  const { data } = await call('listStatements', { query })
  const path = { statementId: data[0].statementId }
  await call('readStatement', { path })
  await call('listStatementLines', { path })
  await call('exportStatement', { path })
  await call('exportStatements', { query })
  await call('readLatestStatement')
  await call('readOpenStatement')
  const operator = { as: 'operator' } as const
  await call('listAllStatements', { ...operator, query })
  await call('readAnyStatement', { ...operator, path })
  await call('exportAllStatements', { ...operator, query: { ...query, bank: 'alpha' } })
  await call('verifyStatements', operator)
}

async function walkOperator(call: Call): Promise<void> {
  const operator = { as: 'operator' } as const
  await call('readOverview', operator)
  const directory = 'paymentSystems:\n  - { code: amex, name: American Express }\n'
  await call('applyDirectory', { ...operator, query: { dryRun: 'true' }, body: { directory } })
  const credential = { bank: 'alpha', role: 'EDITOR', label: 'Core banking' }
  const { clientId } = await call('issueCredential', { ...operator, body: credential, status: 201 })
  await call('listCredentials', operator)
  await call('rotateCredential', { ...operator, path: { clientId }, body: { overlap: 'PT1H' } })
  await call('revokeCredential', { ...operator, path: { clientId } })
  const user = { bank: 'alpha', login: 'olena', role: 'EDITOR', password: 'correct horse battery staple' }
  await call('addUser', { ...operator, body: user, status: 201 })
  await call('addUser', { ...operator, body: user, status: 409 })
  await call('listUsers', operator)
  await call('disableUser', { ...operator, path: { login: 'olena' } })
  await call('eraseUser', { ...operator, path: { login: 'olena' } })
  await call('readPolicyOf', { ...operator, query: { bank: 'alpha' } })
  await call('takeAddressesOff', { ...operator, body: { bank: 'alpha' } })
  await call('readPartners', operator)
  const ofMerchant = { ...operator, path: { code: 'grocer' } }
  await call('readMerchant', ofMerchant)
  await call('readTerminals', ofMerchant)
  const stock = { operator: 'kyivstar', tariff: 'eu-10gb' }
  const csv = [...profileLines({ count: 3, seed: 77 })].join('')
  await call('importProfiles', { ...operator, query: stock, csv })
  const [, first = ''] = csv.split('\n')
  const iccid = first.split(',').find(cell => /^\d{18,20}$/.test(cell))
  const iccids = ['8938003992000000012']
  const ofUnknown = { operator: 'kyivstar', tariff: 'unknown' }
  await call('withdrawProfiles', { ...operator, body: { iccids }, live: ofUnknown, status: 404 })
  await call('withdrawProfiles', { ...operator, body: { iccids }, live: { iccids: [iccid] } })
  for (const operationId of [
    'countStock',
    'readStockDesk',
    'runAudit',
    'readLastAudit',
    'readSupport',
    'countRows',
    'rotateKeys',
    'rotateTokenKey',
  ])
    await call(operationId, operator)
  await call('importCustomers', { ...operator, query: { bank: 'alpha' }, csv: 'customerId\nalpha-900001\n' })
  await call('countCustomers', operator)
  const customerId = 'alpha-900001'
  await call('findCustomer', { ...operator, body: { customerId } })
  await call('exportCustomer', { ...operator, body: { customerId, bank: 'alpha' } })
  await call('forgetCustomers', { ...operator, query: { bank: 'alpha' }, csv: 'customerId\nalpha-900001\n' })
}

async function walkAuditLog(call: Call): Promise<void> {
  const operator = { as: 'operator' } as const
  await call('makeAuditCheckpoint', operator)
  await call('findAuditEntries', operator)
  await call('exportWholeAuditLog', operator)
  await call('verifyAuditLog', { ...operator, body: {} })
  await call('listAuditEntries')
  await call('exportAuditLog')
  await call('listAuditCheckpoints')
}
