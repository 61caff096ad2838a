/**
 * Which roles may call which operations: every operation of every document, called by every kind of caller. A new role
 * needs a row here, and a new operation a place in a group.
 */
import assert from 'node:assert/strict'
import { after, before, suite, test } from 'node:test'
import { addUser } from '../../../src/access/operations.ts'
import type { BankSystemRole, rolesOfPeople, rolesOfSystems } from '../../../src/roles.ts'
import { type Operation, operations } from '../../support/openapi-operations.ts'
import { startPlatform, type TestPlatform } from '../../support/platform.ts'

/** The operations, grouped by who may call them. */
const groups = {
  everybody: 'readSession verifyFactor readDirectory readClock moveClock resetClock deliverWebhooks listEventTypes',
  ownPerson:
    'changePassword setLanguage listSessions endOtherSessions endOneSession readFactors beginTotp removeTotp confirmTotp ' +
    'renewRecoveryCodes',
  manageAccount:
    'listPeople changePerson erasePerson resetPassword resetFactors invitePerson listInvitations withdrawInvitation ' +
    'readSecurityPolicy setSecurityPolicy listOwnCredentials issueOwnCredential rotateOwnCredential revokeOwnCredential',
  campaignsOfBanks:
    'listBankCampaigns confirmParticipation rejectParticipation listRetailers readRetailer findBankCampaigns ' +
    'createCampaignAsBank readBankCampaign downloadSegment uploadBankReport acknowledgeCompensation',
  readCampaignsOfMerchants: 'listConnectedBanks listOwnCampaigns readCampaign',
  changeCampaignsOfMerchants:
    'createCampaign editCampaign deleteCampaign launchCampaign formSegment uploadMerchantReport acceptReport ' +
    'confirmSettlement confirmPayment',
  readCampaignsOfPartners:
    'readHome findTerminals readOwnTerminals readSegment exportCampaigns downloadTerminals readHistory readDecisions ' +
    'readReconciliation downloadDifferences findDifferences downloadReport readSettlementAct downloadSettlementAct',
  readSales:
    'listOperators listTariffs readOrder findOrders searchOrderByProfile readPortalOrder exportOrders readSales readStock ' +
    'listOrders findOrderByExternalId readPartnerOrder readOrderTimeline exportPartnerOrders',
  sell: 'reserveOrder confirmOrder readOrderQr cancelOrder',
  readStatements:
    'listStatements readOpenStatement readLatestStatement readStatement listStatementLines exportStatement exportStatements',
  readEvents: 'readEvents readEvent listEndpoints readEndpoint listDeliveries readDelivery',
  changeWebhooks:
    'createEndpoint changeEndpoint deleteEndpoint enableEndpoint disableEndpoint rotateEndpointSecret testEndpoint ' +
    'replayEvents retryDelivery skipDelivery',
  readAuditLog: 'listAuditEntries exportAuditLog listAuditCheckpoints',
  readPlatform:
    'readOverview listCredentials listUsers readPolicyOf readPartners readMerchant readTerminals countStock readStockDesk ' +
    'runAudit readLastAudit findAuditEntries exportWholeAuditLog verifyAuditLog findAllOrders searchAnyOrderByProfile ' +
    'readAnyOrder listAllStatements verifyStatements readAnyStatement exportAllStatements findCampaigns readAnyCampaign ' +
    'readAnyHistory countCustomers findCustomer listAllEndpoints readNewestEvents readEventsStatus',
  changePlatform:
    'applyDirectory issueCredential rotateCredential revokeCredential addUser disableUser eraseUser takeAddressesOff ' +
    'importProfiles rotateTokenKey withdrawProfiles rotateKeys makeAuditCheckpoint readSupport countRows importCustomers ' +
    'forgetCustomers completeCampaign exportCustomer enableAnyEndpoint disableAnyEndpoint rotateAnyEndpointSecret ' +
    'replayAnyEvents restartFeeds',
}
type Group = keyof typeof groups
type Row = readonly Group[]

const person: Row = ['everybody', 'ownPerson']
const bankEditor: Row = [
  'campaignsOfBanks',
  'readCampaignsOfPartners',
  'readSales',
  'sell',
  'readStatements',
  'readEvents',
]
const merchantReader: Row = ['readCampaignsOfMerchants', 'readCampaignsOfPartners', 'readEvents']
const merchantEditor: Row = [...merchantReader, 'changeCampaignsOfMerchants']
const integrator: Row = ['changeWebhooks', 'readAuditLog']
const staff: Row = ['readPlatform', 'readEvents', 'readAuditLog']

type OfPeople = { [Kind in keyof typeof rolesOfPeople]: Record<(typeof rolesOfPeople)[Kind][number], Row> }
type OfSystems = { [Kind in keyof typeof rolesOfSystems]: Record<(typeof rolesOfSystems)[Kind][number], Row> }
const people: OfPeople = {
  bank: {
    ADMIN: [...person, ...bankEditor, ...integrator, 'manageAccount'],
    EDITOR: [...person, ...bankEditor],
    VIEWER: [...person, 'readSales', 'readStatements'],
  },
  retailer: {
    admin_user: [...person, ...merchantEditor, ...integrator, 'manageAccount'],
    editor: [...person, ...merchantEditor],
    viewer: [...person, ...merchantReader],
  },
  platform: {
    admin: [...person, ...staff, 'changeWebhooks', 'changePlatform', 'manageAccount'],
    viewer: [...person, ...staff],
  },
}
const systems: OfSystems = {
  bank: {
    ADMIN: ['everybody', ...bankEditor, ...integrator],
    EDITOR: ['everybody', ...bankEditor],
    VIEWER: ['everybody', 'readSales', 'sell', 'readStatements'],
  },
  retailer: { gateway: ['everybody', ...merchantEditor, ...integrator] },
  platform: {},
}
type Kind = keyof OfPeople
const kinds: readonly Kind[] = ['bank', 'retailer', 'platform']

let platform: TestPlatform
before(async () => {
  platform = await startPlatform()
})
after(() => platform.close())

const owners = { bank: { bank: 'alpha' }, retailer: { merchant: 'grocer' }, platform: 'platform' } as const

async function personToken(kind: Kind, role: string): Promise<string> {
  const login = `${kind}-${role}`.toLowerCase()
  const password = 'correct horse battery staple'
  await addUser({ database: platform.platform.database }, { owner: owners[kind], login, role, password })
  const body = { typeAccount: kind, login, password }
  const answer = await platform.call('POST', '/auth/login', { body })
  return answer.body.access_token
}

const systemToken = (kind: Kind, role: string): Promise<string> =>
  kind === 'bank' ? platform.bankToken('alpha', role as BankSystemRole) : platform.merchantToken()

const guarded = operations.filter(({ operation }) => operation.security?.length > 0)
/** Calls an operation with an unknown parameter. Most operations refuse it, so that the walk changes next to nothing. */
const call = ({ method, path }: Operation, token: string | null) =>
  platform.call(method, `${path.replaceAll(/{.*?}/g, '3f0e8a52-6c1d-4b7e-9a40-5d2c8e1f7b63')}?unknown=1`, { token })

async function assertMayCall(token: string, row: Row): Promise<void> {
  const allowed: string[] = []
  for (const some of chunks(guarded, 10)) {
    const statuses = await Promise.all(some.map(async one => (await call(one, token)).status))
    assert.ok(!statuses.includes(401))
    allowed.push(...some.filter((_, n) => statuses[n] !== 403).map(({ operation }) => operation.operationId))
  }
  assert.deepEqual(allowed.toSorted(), operationsOf(row).toSorted())
}

const chunks = <T>(list: readonly T[], size: number): T[][] =>
  list.length === 0 ? [] : [list.slice(0, size), ...chunks(list.slice(size), size)]

const operationsOf = (row: Row): string[] => row.flatMap(group => groups[group].split(' '))

test('each operation that needs a token is in one group', () => {
  const ids = guarded.map(({ operation }) => operation.operationId)
  assert.deepEqual(operationsOf(Object.keys(groups) as Group[]).toSorted(), ids.toSorted())
})

for (const kind of kinds)
  suite(`people and systems of a ${kind}`, () => {
    for (const [role, row] of Object.entries<Row>(people[kind]))
      test(`a person with the role ${role}`, async () => assertMayCall(await personToken(kind, role), row))
    for (const [role, row] of Object.entries<Row>(systems[kind]))
      test(`a system with the role ${role}`, async () => assertMayCall(await systemToken(kind, role), row))
  })

suite('the Partner API', () => {
  const ofPartners = guarded.filter(({ file }) => file === 'partner.json')

  const named = { bank: 'bank', retailer: 'merchant', platform: 'platform' } as const

  test('its document names the roles of each operation', () => {
    for (const { operation } of ofPartners)
      for (const kind of kinds) {
        const rows = [...Object.entries<Row>(people[kind]), ...Object.entries<Row>(systems[kind])]
        const allowed = rows.filter(([, row]) => operationsOf(row).includes(operation.operationId))
        const roles = [...new Set(allowed.map(([role]) => role))]
        assert.deepEqual(operation['x-roles'][named[kind]].toSorted(), roles.toSorted(), operation.operationId)
      }
  })

  test('needs a token that the platform has issued, and takes no operator’s key', async () => {
    for (const one of ofPartners)
      for (const token of [null, platform.config.operatorKey, 'x']) assert.equal((await call(one, token)).status, 401)
  })
})
