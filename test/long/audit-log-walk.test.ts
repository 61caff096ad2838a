/** Every operation of every document is called, and the entries are compared with the calls (contract/audit-log.md, "Entries"). */
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import { assertChained, platformUserToken, readEntries } from '../support/audit-log.ts'
import { type Exchange, walkExamples } from '../support/example-walk.ts'
import { addressesOf } from '../support/examples.ts'
import { documents, snapshotUrl } from '../support/openapi.ts'

/**
 * The entries that each operation writes, or the reason why it writes none. A read that is not listed here writes no
 * entry.
 */
const actions: Record<string, string | string[] | { none: string }> = {
  confirmParticipation: 'campaign.confirm',
  rejectParticipation: 'campaign.reject',
  createCampaign: 'campaign.create',
  createCampaignAsBank: 'campaign.create',
  editCampaign: 'campaign.edited',
  deleteCampaign: 'campaign.delete',
  launchCampaign: 'campaign.launch',
  formSegment: 'segment.formed',
  uploadBankReport: 'report.uploaded',
  uploadMerchantReport: 'report.uploaded',
  acceptReport: 'campaign.accept-report',
  confirmSettlement: 'campaign.settle',
  confirmPayment: 'campaign.pay',
  acknowledgeCompensation: 'campaign.acknowledge',
  completeCampaign: 'campaign.complete',
  moveClock: 'clock.moved',
  resetClock: 'clock.moved',
  applyDirectory: 'directory.applied',
  issueCredential: 'credential.issued',
  rotateCredential: 'credential.rotated',
  revokeCredential: 'credential.revoked',
  addUser: 'user.added',
  disableUser: 'user.disabled',
  eraseUser: 'user.erased',
  importProfiles: 'stock.imported',
  withdrawProfiles: 'stock.withdrawn',
  makeAuditCheckpoint: 'checkpoint.made',
  verifyAuditLog: { none: 'a check' },
  rotateKeys: 'keys.rotated',
  rotateTokenKey: 'keys.rotated',
  importCustomers: 'customers.imported',
  forgetCustomers: 'customers.forgotten',
  readAnyOrder: 'order.read',
  readAnyCampaign: 'campaign.read',
  readAnyHistory: 'campaign.read',
  issueToken: { none: 'a token changes nothing' },
  logIn: 'login.done',
  openSession: 'login.done',
  endSession: 'logout',
  reserveOrder: { none: 'statements pin orders' },
  confirmOrder: { none: 'statements pin orders' },
  cancelOrder: { none: 'statements pin orders' },
  searchOrderByProfile: { none: 'a search' },
  searchAnyOrderByProfile: 'order.read',
  findCustomer: { none: 'a search' },
  exportCustomer: 'customers.exported',
  deliverWebhooks: { none: 'the sandbox delivers what is due' },
  enableAnyEndpoint: 'endpoint.enabled',
  disableAnyEndpoint: 'endpoint.disabled',
  rotateAnyEndpointSecret: 'endpoint.secret_rotated',
  replayAnyEvents: 'endpoint.replayed',
  restartFeeds: 'feeds.restarted',
  createEndpoint: 'endpoint.created',
  changeEndpoint: 'endpoint.changed',
  deleteEndpoint: 'endpoint.deleted',
  enableEndpoint: 'endpoint.enabled',
  disableEndpoint: 'endpoint.disabled',
  rotateEndpointSecret: 'endpoint.secret_rotated',
  testEndpoint: { none: 'a test changes nothing' },
  replayEvents: 'endpoint.replayed',
  retryDelivery: 'delivery.retried',
  skipDelivery: 'delivery.skipped',
  verifyFactor: ['mfa.recovery_used', 'login.done'],
  acceptLink: 'invitation.accepted',
  requestPasswordReset: { none: 'a job makes the link, and tells of it' },
  changePerson: 'user.role_changed',
  erasePerson: 'user.erased',
  resetPassword: 'password.reset_link_made',
  resetFactors: { none: 'the person of the walk has neither factor nor session' },
  invitePerson: 'invitation.made',
  withdrawInvitation: 'invitation.withdrawn',
  setSecurityPolicy: { none: 'the walk sets what holds already' },
  issueOwnCredential: 'credential.issued',
  rotateOwnCredential: 'credential.rotated',
  revokeOwnCredential: 'credential.revoked',
  changePassword: 'password.changed',
  setLanguage: 'user.changed',
  endOtherSessions: { none: 'the walk has no other session' },
  endOneSession: 'session.ended',
  beginTotp: { none: 'nothing holds before its first code' },
  removeTotp: 'mfa.removed',
  confirmTotp: 'mfa.added',
  renewRecoveryCodes: 'mfa.codes_renewed',
  takeAddressesOff: { none: 'there are no lists in the walk' },
}

/**
 * True for requests that succeed without an entry: a dry run of a report, and a login that waits for its second factor.
 */
const isTrial = ({ operationId, path, answer }: Exchange): boolean =>
  (operationId === 'openSession' && answer.status === 202) ||
  (path.includes('report') && answer.status === 200 && !path.includes('accept'))

test('every change leaves exactly one entry, in the account that it belongs to, and nothing else leaves one', async () => {
  const addresses = addressesOf(documents.map(({ file }) => readFileSync(snapshotUrl(file), 'utf8')))
  const unnamed = [...addresses].filter(([id, { method }]) => method !== 'GET' && actions[id] === undefined)
  assert.deepEqual(
    unnamed.map(([id]) => id),
    [],
    'say here what entry they leave',
  )
  await walkExamples(addresses, async (platform, exchanges) => {
    const token = await platformUserToken(platform)
    const entries = await readEntries(platform, token)
    const done = exchanges.filter(({ status }) => status < 300)
    const byRequest = Map.groupBy(entries, ({ requestId }) => requestId)
    for (const exchange of exchanges) {
      const { operationId, status, answer } = exchange
      const left = byRequest.get(answer.headers.get('x-request-id')) ?? []
      const named = actions[operationId] ?? []
      const expected = typeof named === 'string' ? [named] : Array.isArray(named) ? named : []
      const isDone = status < 300 && !isTrial(exchange)
      const others = left.filter(entry => entry.via !== 'clock').map(entry => entry.action)
      const isApply = operationId === 'applyDirectory'
      if (isApply && others.length > 0) assert.ok(others.every(other => other === named))
      else assert.deepEqual(others, isDone && !isApply ? expected : [], `${operationId} ${status}`)
    }
    assert.ok(done.length > 50)
    for (const entry of entries) {
      if (entry.actor.type === 'system') assert.notEqual(entry.account.type, 'platform', entry.action)
      assert.equal(entry.outcome, 'done')
    }
    assert.ok(entries.some(({ via, action }) => via === 'clock' && action === 'campaign.start'))
    assert.ok(
      entries.some(
        ({ via, action, account }) => via === 'clock' && action === 'campaign.end' && account.type === 'bank',
      ),
    )
    const partner = await readEntries(platform, await platform.bankToken('alpha'))
    const own = entries.filter(({ account }) => account.id === partner[0].account.id)
    assert.deepEqual(
      partner.slice(0, own.length).map(({ accountSeq }) => accountSeq),
      own.map(({ accountSeq }) => accountSeq),
    )
    await assertChained(platform)
  })
})
