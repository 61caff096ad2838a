/** The portal hides what a person's role does not allow. It must agree with the platform, which decides. */
import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import * as portal from '../../portal/src/session/rights.ts'
import { hasRight, type Right, rolesOfPeople, rolesOfSystems } from '../../src/roles.ts'

type Kind = keyof typeof rolesOfPeople
const kinds = Object.keys(rolesOfPeople) as Kind[]

/** What the portal asks, and the rights of which one must be there. */
const questions: [(typeof portal)['mayChange'], Right[]][] = [
  [portal.mayChange, ['changeCampaigns', 'changePlatform']],
  [portal.maySeeCampaigns, ['readCampaigns', 'readPlatform']],
  [portal.maySeeSales, ['readSales']],
  [portal.maySeeStatements, ['readStatements']],
  [portal.isManager, ['manageAccount']],
  [portal.maySeeEvents, ['readEvents']],
  [portal.mayChangeWebhooks, ['changeWebhooks']],
  [portal.maySeeAuditLog, ['readAuditLog']],
]

for (const kind of kinds)
  suite(`people of a ${kind}`, () => {
    for (const role of rolesOfPeople[kind])
      test(`what the portal shows to a person with the role ${role}`, () => {
        for (const [question, rights] of questions) {
          const allowed = rights.some(right => hasRight({ type: kind, role }, right))
          assert.equal(question({ typeAccount: kind, role }), allowed, rights.join())
        }
      })

    test('forms offer their roles', () => {
      assert.deepEqual(portal.rolesOf({ typeAccount: kind }), rolesOfPeople[kind])
    })
  })

test('forms offer the roles of a bank’s credentials', () => {
  assert.deepEqual(portal.rolesOfBankSystems, rolesOfSystems.bank)
})
