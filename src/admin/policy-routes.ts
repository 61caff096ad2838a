/**
 * Routes with which the operator reads an account's security policy, and removes its address lists when they have
 * locked people out.
 */
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { ownerOf } from '../access/operations.ts'
import { type Policy, readPolicy, takeAddressesOff } from '../access/policy/policies.ts'
import type { Refusals } from '../access/refusals.ts'
import * as people from '../people/schemas.ts'
import { ownerOf as namedOwner } from './access-routes.ts'
import { AccountBody, AccountQuery } from './access-schemas.ts'
import { fresh, mfaNeeded, operation, operatorErrors, unknownPartner } from './request/documents.ts'
import { withCheckedCaller } from './request/with-checked-caller.ts'

export type PolicyAdminDeps = {
  database: Parameters<typeof takeAddressesOff>[0]
  refusals: Refusals
  platformMfa: Policy['mfa']
}

export const policyAdminRoutes: FastifyPluginAsyncTypebox<PolicyAdminDeps> = async (app, deps) => {
  const { database, refusals, platformMfa } = deps
  const ownerNamed = async (named: Parameters<typeof namedOwner>[0]) => {
    const owner = namedOwner(named)
    return owner === 'platform' ? owner : ownerOf(database, owner)
  }

  app.get(
    '/security-policy',
    {
      schema: {
        ...operation(
          'Access',
          'readPolicyOf',
          'The security policy of an account',
          'The defaults, where it has set none.',
        ),
        querystring: AccountQuery,
        response: { 200: people.Policy, ...operatorErrors(unknownPartner) },
      },
    },
    async ({ query }) => {
      const { platform, ...partner } = query
      return readPolicy(database, await ownerNamed(platform === true ? { ...partner, platform } : partner), platformMfa)
    },
  )

  app.post(
    '/security-policy/addresses-off',
    {
      config: fresh,
      schema: {
        ...operation(
          'Access',
          'takeAddressesOff',
          'Take the address lists of an account off',
          'The way back after a lock-out: its people and systems get in from everywhere within 10 seconds.',
        ),
        body: AccountBody,
        response: { 200: people.Policy, ...operatorErrors({ ...mfaNeeded, ...unknownPartner }) },
      },
    },
    async request => {
      const owner = await ownerNamed(request.body)
      const change = withCheckedCaller({ database }, request)
      await takeAddressesOff(change.database, owner, change.origin)
      await refusals.refresh()
      return readPolicy(database, owner, platformMfa)
    },
  )
}
