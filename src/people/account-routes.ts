/** Routes below `/portal` with which managers set an account's policy and handle its credentials. */
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { Type } from 'typebox'
import {
  IssuedCredential,
  listedCredentials,
  overlapMs,
  RevokedCredential,
  RotateBody,
  RotatedCredential,
  rotation,
} from '../access/credential-schemas.ts'
import { type Policy, type PolicyDeps, policyTag, readPolicy, setPolicy } from '../access/policy/policies.ts'
import { managerOf, onlyManagers } from '../access/request/callers.ts'
import { clientOf } from '../access/request/client.ts'
import { originOf } from '../audit-log/request/origin.ts'
import { StaleError } from '../errors.ts'
import { matches } from '../http/answer/etag.ts'
import type { App } from '../http/app.ts'
import { idempotent, idempotentForOwn } from '../http/idempotency-key.ts'
import { bodyOptional } from '../http/input/optional-body.ts'
import { etagHeader, staleVersion } from '../http/openapi/operations.ts'
import { secured } from '../http/schemas.ts'
import { answerOnce } from '../idempotency/request/once.ts'
import { issueOwn, maxCredentials, revokeOwn, rotateOwn } from './credentials.ts'
import { listOwnCredentials } from './credentials-store.ts'
import { changing, managedAccount } from './managers.ts'
import type { PeopleRoutesDeps } from './people-routes.ts'
import { fresh, mfaNeeded, portalErrors, tags, tooManyChanges, unknownAccount } from './request/documents.ts'
import * as schemas from './schemas.ts'
import { ownCredentialView } from './views.ts'

export type AccountRoutesDeps = PeopleRoutesDeps &
  Pick<PolicyDeps, 'countSettingsChange'> & { platformMfa: Policy['mfa'] }

/** The policy with its ETag, which clients send back in `If-Match`. */
const TaggedPolicy = { ...schemas.Policy, headers: { etag: etagHeader } }

const unknownCredential = { 404: 'The account has no live credential with that clientId' }
export const accountRoutes: FastifyPluginAsyncTypebox<AccountRoutesDeps> = async (app, deps) => {
  onlyManagers(app, deps)
  readSecurityPolicyRoute(app, deps)
  setSecurityPolicyRoute(app, deps)
  listOwnCredentialsRoute(app, deps)
  issueOwnCredentialRoute(app, deps)
  rotateOwnCredentialRoute(app, deps)
  revokeOwnCredentialRoute(app, deps)
}

function readSecurityPolicyRoute(app: App, deps: AccountRoutesDeps): void {
  const { database } = deps
  app.get(
    '/security-policy',
    {
      schema: {
        tags,
        security: secured,
        operationId: 'readSecurityPolicy',
        summary: 'The account’s policy',
        description: 'Returns the defaults until a policy is set. Send the `ETag` as `If-Match` with a change.',
        querystring: schemas.AccountQuery,
        response: { 200: TaggedPolicy, ...portalErrors(unknownAccount) },
      },
    },
    async (request, reply) => {
      const owner = await managedAccount(database, managerOf(request), request.query)
      const policy = await readPolicy(database, owner, deps.platformMfa)
      return reply.header('etag', policyTag(policy)).send(policy)
    },
  )
}

function setSecurityPolicyRoute(app: App, deps: AccountRoutesDeps): void {
  const { database } = deps
  app.put(
    '/security-policy',
    {
      config: { ...idempotent, ...fresh },
      schema: {
        tags,
        security: secured,
        operationId: 'setSecurityPolicy',
        summary: 'Set the account’s policy',
        description:
          'Replaces the whole policy. It holds for every request within 10 seconds. The length of sessions holds for new ones. Honours `If-Match`.',
        querystring: schemas.AccountQuery,
        headers: Type.Object({
          'if-match': Type.Optional(
            Type.String({
              maxLength: 4096,
              description: 'The `ETag` of the policy that the change is based on',
              examples: ['"5df6e0e2761359d3"'],
            }),
          ),
        }),
        body: schemas.PolicyBody,
        response: {
          200: TaggedPolicy,
          ...portalErrors({ ...mfaNeeded, ...unknownAccount, 412: staleVersion('policy') }),
        },
      },
    },
    async (request, reply) => {
      const manager = managerOf(request)
      const owner = await managedAccount(database, manager, request.query)
      const { force, ...policy } = request.body
      const { address } = clientOf(request)
      return answerOnce(request, reply, { deps, status: 200, committed: () => deps.refusals.refresh() }, async on => {
        const change = {
          policy,
          platformMfa: deps.platformMfa,
          address,
          force,
          origin: originOf(request),
          requireExpected(before: Policy) {
            if (!matches(request.headers['if-match'], policyTag(before))) throw new StaleError('policy')
          },
        }
        const set = await changing(on.database, manager, owner, within =>
          setPolicy({ ...on, database: within }, owner, change),
        )
        reply.header('etag', policyTag(set))
        return set
      })
    },
  )
}

function listOwnCredentialsRoute(app: App, deps: AccountRoutesDeps): void {
  const { database, activity, pageReads } = deps
  app.get(
    '/credentials',
    {
      schema: {
        tags,
        security: secured,
        operationId: 'listOwnCredentials',
        summary: 'The account’s credentials',
        description: `The credentials of its systems. ${listedCredentials}`,
        querystring: schemas.AccountQuery,
        response: { 200: schemas.OwnCredentials, ...portalErrors(unknownAccount) },
      },
    },
    async (request, reply) => {
      const owner = await managedAccount(database, managerOf(request), request.query)
      await activity.write()
      return (await listOwnCredentials(await pageReads.begin(request, reply), owner)).map(ownCredentialView)
    },
  )
}

function issueOwnCredentialRoute(app: App, deps: AccountRoutesDeps): void {
  const { database } = deps
  app.post(
    '/credentials',
    {
      config: { ...idempotentForOwn, ...fresh },
      schema: {
        tags,
        security: secured,
        operationId: 'issueOwnCredential',
        summary: 'Issue a credential',
        description: 'For a system of the account; the secret is shown once.',
        querystring: schemas.AccountQuery,
        body: schemas.CredentialBody,
        response: {
          201: IssuedCredential,
          ...portalErrors({
            ...mfaNeeded,
            ...unknownAccount,
            409: `The account has ${maxCredentials} live credentials`,
            429: tooManyChanges,
          }),
        },
      },
    },
    async (request, reply) => {
      const manager = managerOf(request)
      const owner = await managedAccount(database, manager, request.query)
      const { role, label } = request.body
      return answerOnce(request, reply, { deps, status: 201 }, on => issueOwn(on, manager, { owner, role, label }))
    },
  )
}

function rotateOwnCredentialRoute(app: App, deps: AccountRoutesDeps): void {
  app.post(
    '/credentials/:clientId/rotate',
    {
      config: { ...idempotentForOwn, ...bodyOptional, ...fresh },
      schema: {
        tags,
        security: secured,
        operationId: 'rotateOwnCredential',
        summary: 'Give a credential a new secret',
        description: rotation,
        params: schemas.ClientPath,
        body: RotateBody,
        response: {
          200: RotatedCredential,
          ...portalErrors({ ...mfaNeeded, ...unknownCredential, 429: tooManyChanges }),
        },
      },
    },
    (request, reply) => {
      const params = { clientId: request.params.clientId, overlapMs: overlapMs(request.body.overlap) }
      return answerOnce(request, reply, { deps, status: 200, committed: () => deps.refusals.refresh() }, async on => {
        const rotated = await rotateOwn(on, managerOf(request), params)
        return { ...rotated, previousValidUntil: rotated.previousValidUntil.toISOString() }
      }) as never
    },
  )
}

function revokeOwnCredentialRoute(app: App, deps: AccountRoutesDeps): void {
  app.post(
    '/credentials/:clientId/revoke',
    {
      config: idempotent,
      schema: {
        tags,
        security: secured,
        operationId: 'revokeOwnCredential',
        summary: 'Revoke a credential',
        description: 'Its tokens are refused everywhere within 10 seconds.',
        params: schemas.ClientPath,
        response: {
          200: RevokedCredential,
          ...portalErrors({ 404: 'The account has no credential with that clientId' }),
        },
      },
    },
    (request, reply) => {
      const { clientId } = request.params
      return answerOnce(request, reply, { deps, status: 200, committed: () => deps.refusals.refresh() }, async on => {
        await revokeOwn(on, managerOf(request), clientId)
        return { clientId }
      }) as never
    },
  )
}
