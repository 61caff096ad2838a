/** Routes with which the operator manages partners' credentials and portal users. */

import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import * as credentials from '../access/credential-schemas.ts'
import { overlapMs } from '../access/credential-schemas.ts'
import { listCredentials } from '../access/credential-store.ts'
import * as access from '../access/operations.ts'
import type { Refusals } from '../access/refusals.ts'
import { personOf } from '../access/request/authenticate.ts'
import { listUsers } from '../access/user-store.ts'
import { withOrigin } from '../audit-log/request/origin.ts'
import { broken } from '../error-rules.ts'
import { DomainError } from '../errors.ts'
import type { App } from '../http/app.ts'
import { bodyOptional } from '../http/input/optional-body.ts'
import type { ReadDeps } from '../http/limits/costly-reads.ts'
import { eraseUser } from '../people/erasure.ts'
import { type PeopleDeps, requireAddress } from '../people/managers.ts'
import { disablePerson } from '../people/users.ts'
import * as schemas from './access-schemas.ts'
import { credentialView, userView } from './access-views.ts'
import { fresh, mfaNeeded, operation, operatorErrors, unknownPartner } from './request/documents.ts'
import { withCheckedCaller } from './request/with-checked-caller.ts'

export type AccessAdminDeps = Pick<PeopleDeps, 'database'> & ReadDeps & { refusals: Refusals; people: PeopleDeps }

/** Returns the account that a request names. @throws DomainError 'invalid' unless it names exactly one */
export function ownerOf(input: { bank?: string; merchant?: string; platform?: true }): access.UserOwner {
  const { bank, merchant, platform } = input
  if ([bank, merchant, platform].filter(named => named !== undefined).length !== 1)
    throw new DomainError('invalid', [broken('bank', 'one-account')])
  if (platform) return 'platform'
  return bank === undefined ? { merchant: merchant ?? '' } : { bank }
}

export const accessAdminRoutes: FastifyPluginAsyncTypebox<AccessAdminDeps> = async (app, deps) => {
  issueCredentialRoute(app, deps)
  listCredentialsRoute(app, deps)
  rotateCredentialRoute(app, deps)
  revokeCredentialRoute(app, deps)
  addUserRoute(app, deps)
  listUsersRoute(app, deps)
  disableUserRoute(app, deps)
}

function issueCredentialRoute(app: App, deps: AccessAdminDeps): void {
  app.post(
    '/credentials',
    {
      config: fresh,
      schema: {
        ...operation(
          'Access',
          'issueCredential',
          'Issue a credential',
          'For systems of a bank or a merchant; the secret is shown once.',
        ),
        body: schemas.CredentialBody,
        response: {
          201: credentials.IssuedCredential,
          ...operatorErrors({ ...mfaNeeded, ...unknownPartner }),
        },
      },
    },
    async (request, reply) => {
      const { role, label, ...named } = request.body
      const partner = ownerOf(named)
      if (partner === 'platform') throw new DomainError('invalid', [broken('bank', 'bank-or-merchant')])
      if ('merchant' in partner && role !== undefined)
        throw new DomainError('invalid', [broken('role', 'no-role-of-merchant')])
      if ('bank' in partner && role === undefined) throw new DomainError('invalid', [broken('role', 'role-of-bank')])
      const issued = await access.issueCredential(withCheckedCaller(deps, request), {
        partner,
        role: role ?? 'gateway',
        label,
      })
      return reply.code(201).send(issued)
    },
  )
}

function listCredentialsRoute(app: App, deps: AccessAdminDeps): void {
  app.get(
    '/credentials',
    {
      schema: {
        ...operation('Access', 'listCredentials', 'Credentials of a partner, or all', credentials.listedCredentials),
        querystring: schemas.PartnerQuery,
        response: { 200: credentials.Credentials, ...operatorErrors(unknownPartner) },
      },
    },
    async (request, reply) => {
      const database = await deps.pageReads.begin(request, reply)
      return (await listCredentials(database, await access.namedPartner(database, request.query))).map(credentialView)
    },
  )
}

function rotateCredentialRoute(app: App, deps: AccessAdminDeps): void {
  app.post(
    '/credentials/:clientId/rotate',
    {
      config: { ...bodyOptional, ...fresh },
      schema: {
        ...operation('Access', 'rotateCredential', 'Give a credential a new secret', credentials.rotation),
        params: schemas.ClientPath,
        body: credentials.RotateBody,
        response: {
          200: credentials.RotatedCredential,
          ...operatorErrors({ ...mfaNeeded, 404: 'No live credential has that clientId' }),
        },
      },
    },
    async (request, reply) => {
      const rotated = await access.rotateCredential(withCheckedCaller(deps, request), {
        clientId: request.params.clientId,
        overlapMs: overlapMs(request.body.overlap),
      })
      await deps.refusals.refresh()
      const previousValidUntil = rotated.previousValidUntil.toISOString()
      return reply.send({ ...rotated, previousValidUntil })
    },
  )
}

function revokeCredentialRoute(app: App, deps: AccessAdminDeps): void {
  app.post(
    '/credentials/:clientId/revoke',
    {
      schema: {
        ...operation(
          'Access',
          'revokeCredential',
          'Revoke a credential',
          'Its tokens are refused everywhere within 10 seconds.',
        ),
        params: schemas.ClientPath,
        response: { 200: credentials.RevokedCredential, ...operatorErrors({ 404: 'No credential has that clientId' }) },
      },
    },
    async request => {
      const { clientId } = request.params
      await access.revokeCredential(withCheckedCaller(deps, request), clientId)
      await deps.refusals.refresh()
      return { clientId }
    },
  )
}

function addUserRoute(app: App, deps: AccessAdminDeps): void {
  app.post(
    '/users',
    {
      config: fresh,
      schema: {
        ...operation('Access', 'addUser', 'Add a portal user', 'Of a bank, a merchant, or the platform itself.'),
        body: schemas.UserBody,
        response: {
          201: schemas.AddedUser,
          ...operatorErrors({ ...mfaNeeded, ...unknownPartner, 409: 'The login is taken' }),
        },
      },
    },
    async (request, reply) => {
      const { login, role, password, email = null, ...named } = request.body
      requireAddress(email)
      const user = await access.addUser(withCheckedCaller(deps, request), {
        owner: ownerOf(named),
        login,
        role,
        password,
        email,
      })
      return reply.code(201).send(user)
    },
  )
}

function listUsersRoute(app: App, deps: AccessAdminDeps): void {
  app.get(
    '/users',
    {
      schema: {
        ...operation('Access', 'listUsers', 'Portal users of a partner, or all', 'Disabled ones too.'),
        querystring: schemas.PartnerQuery,
        response: { 200: schemas.Users, ...operatorErrors(unknownPartner) },
      },
    },
    async (request, reply) => {
      const database = await deps.pageReads.begin(request, reply)
      return (await listUsers(database, await access.namedPartner(database, request.query))).map(userView)
    },
  )
}

function disableUserRoute(app: App, deps: AccessAdminDeps): void {
  app.post(
    '/users/:login/disable',
    {
      schema: {
        ...operation(
          'Access',
          'disableUser',
          'Disable a portal user',
          'Open sessions end everywhere within 10 seconds. People disable neither themselves nor the last active manager of an ' +
            'account; the operator key may.',
        ),
        params: schemas.LoginPath,
        response: {
          200: schemas.DisabledUser,
          ...operatorErrors({
            404: 'No user has that login',
            409: 'For people: it is their own login, or that of the last active manager of an account',
          }),
        },
      },
    },
    async request => {
      const { login } = request.params
      if (request.caller) await disablePerson(deps.people, personOf(request), login)
      else await access.disableUser(withOrigin(deps, request), login)
      await deps.refusals.refresh()
      return { login }
    },
  )

  app.post(
    '/users/:login/erase',
    {
      config: fresh,
      schema: {
        ...operation(
          'Access',
          'eraseUser',
          'Erase a disabled portal user',
          'For good: all that names the person is deleted, and the login is free again. The audit log keeps the id.',
        ),
        params: schemas.LoginPath,
        response: {
          200: schemas.ErasedUser,
          ...operatorErrors({ ...mfaNeeded, 404: 'No user has that login', 409: 'The user is not disabled' }),
        },
      },
    },
    async request => {
      const { login } = request.params
      await eraseUser(withCheckedCaller(deps, request), login)
      await deps.refusals.refresh()
      return { login }
    },
  )
}
