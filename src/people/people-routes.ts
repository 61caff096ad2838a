/** Routes below `/portal` with which managers handle the people of an account. */
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import type { AuthenticateDeps } from '../access/request/authenticate.ts'
import { managerOf, onlyManagers } from '../access/request/callers.ts'
import type { App } from '../http/app.ts'
import { idempotent, idempotentForOwn } from '../http/idempotency-key.ts'
import type { ReadDeps } from '../http/limits/costly-reads.ts'
import { secured } from '../http/schemas.ts'
import { answerOnce } from '../idempotency/request/once.ts'
import { erasePerson } from './erasure.ts'
import { invitationHours, invite, maxInvitations, withdrawInvitation } from './invitations.ts'
import { managedAccount, type PeopleDeps } from './managers.ts'
import { fresh, mfaNeeded, portalErrors, tags, tooManyChanges, unknownAccount } from './request/documents.ts'
import * as schemas from './schemas.ts'
import { changePerson, resetFactors, resetHours, resetPassword } from './users.ts'
import { listInvitations, listPeople } from './users-store.ts'
import { invitationView, linkView, personView } from './views.ts'

export type PeopleRoutesDeps = AuthenticateDeps & PeopleDeps & Pick<ReadDeps, 'pageReads'>

const notThere = { 404: 'There is no such person in the account' }

export const peopleRoutes: FastifyPluginAsyncTypebox<PeopleRoutesDeps> = async (app, deps) => {
  onlyManagers(app, deps)
  listPeopleRoute(app, deps)
  changePersonRoute(app, deps)
  resetPasswordRoute(app, deps)
  resetFactorsRoute(app, deps)
  erasePersonRoute(app, deps)
  invitePersonRoute(app, deps)
  listInvitationsRoute(app, deps)
  withdrawInvitationRoute(app, deps)
}

function listPeopleRoute(app: App, deps: PeopleRoutesDeps): void {
  const { database, activity, pageReads } = deps
  app.get(
    '/users',
    {
      schema: {
        tags,
        security: secured,
        operationId: 'listPeople',
        summary: 'The people of the account',
        description:
          'Also lists invited and disabled people. An invited person can be changed only through the invitation.',
        querystring: schemas.AccountQuery,
        response: { 200: schemas.People, ...portalErrors(unknownAccount) },
      },
    },
    async (request, reply) => {
      const owner = await managedAccount(database, managerOf(request), request.query)
      await activity.write()
      return { data: (await listPeople(await pageReads.begin(request, reply), owner)).map(personView) }
    },
  )
}

function changePersonRoute(app: App, deps: PeopleRoutesDeps): void {
  app.patch(
    '/users/:userId',
    {
      config: idempotent,
      schema: {
        tags,
        security: secured,
        operationId: 'changePerson',
        summary: 'Change a person',
        description:
          'When the role changes or the person is disabled, the person’s sessions end within 10 seconds. You cannot change your own ' +
          'role, disable yourself, or remove the last active manager. Enabling, and another role or address, need a fresh factor.',
        params: schemas.PersonPath,
        body: schemas.ChangeBody,
        response: {
          200: schemas.Person,
          ...portalErrors({
            ...mfaNeeded,
            ...notThere,
            409: 'It is the own role or access, the last active manager, or somebody who is still invited',
            429: tooManyChanges,
          }),
        },
      },
    },
    (request, reply) => {
      const { userId } = request.params
      return answerOnce(request, reply, { deps, status: 200, committed: () => deps.refusals.refresh() }, async on =>
        personView(await changePerson(on, managerOf(request), { userId, change: request.body })),
      ) as never
    },
  )
}

function resetPasswordRoute(app: App, deps: PeopleRoutesDeps): void {
  app.post(
    '/users/:userId/reset-password',
    {
      config: { ...idempotentForOwn, ...fresh },
      schema: {
        tags,
        security: secured,
        operationId: 'resetPassword',
        summary: 'Send a person a link to a new password',
        description: `The link works once, for ${resetHours} hours, and ends the person’s earlier links. If no mail can be sent, the answer contains it. The second factor stays.`,
        params: schemas.PersonPath,
        response: {
          200: schemas.Reset,
          ...portalErrors({
            ...mfaNeeded,
            ...notThere,
            409: 'It is oneself, or the person is disabled or still invited',
            429: tooManyChanges,
          }),
        },
      },
    },
    (request, reply) =>
      answerOnce(request, reply, { deps, status: 200 }, async on =>
        linkView(await resetPassword(on, managerOf(request), request.params.userId)),
      ) as never,
  )
}

function resetFactorsRoute(app: App, deps: PeopleRoutesDeps): void {
  app.post(
    '/users/:userId/reset-mfa',
    {
      config: { ...idempotent, ...fresh },
      schema: {
        tags,
        security: secured,
        operationId: 'resetFactors',
        summary: 'Remove a person’s second factors',
        description: 'Also removes the recovery codes. The sessions end, and the person is notified by mail.',
        params: schemas.PersonPath,
        response: {
          204: { type: 'null', description: 'The second factors are removed' },
          ...portalErrors({ ...mfaNeeded, ...notThere, 409: 'It is oneself, or somebody who is still invited' }),
        },
      },
    },
    (request, reply) =>
      answerOnce(request, reply, { deps, status: 204, committed: () => deps.refusals.refresh() }, async on => {
        await resetFactors(on, managerOf(request), request.params.userId)
        return null
      }) as never,
  )
}

function erasePersonRoute(app: App, deps: PeopleRoutesDeps): void {
  app.delete(
    '/users/:userId',
    {
      config: { ...idempotent, ...fresh },
      schema: {
        tags,
        security: secured,
        operationId: 'erasePerson',
        summary: 'Erase a disabled person',
        description:
          'For good: login, address, second factors and mails are deleted, and the login is free again. The audit log keeps the id.',
        params: schemas.PersonPath,
        response: {
          204: { type: 'null', description: 'The person is erased' },
          ...portalErrors({ ...mfaNeeded, ...notThere, 409: 'The person is not disabled, or still invited' }),
        },
      },
    },
    (request, reply) =>
      answerOnce(request, reply, { deps, status: 204, committed: () => deps.refusals.refresh() }, async on => {
        await erasePerson(on, managerOf(request), request.params.userId)
        return null
      }) as never,
  )
}

function invitePersonRoute(app: App, deps: PeopleRoutesDeps): void {
  const { database } = deps
  app.post(
    '/invitations',
    {
      config: { ...idempotentForOwn, ...fresh },
      schema: {
        tags,
        security: secured,
        operationId: 'invitePerson',
        summary: 'Invite a person',
        description: `The link works once, for ${invitationHours} hours. It is mailed where there is an address and a mail server; else the answer has it.`,
        querystring: schemas.AccountQuery,
        body: schemas.InvitationBody,
        response: {
          201: schemas.Invited,
          ...portalErrors({
            ...mfaNeeded,
            ...unknownAccount,
            409: `A person of the account has that login, or is invited with it, or ${maxInvitations} invitations wait`,
            429: tooManyChanges,
          }),
        },
      },
    },
    async (request, reply) => {
      const manager = managerOf(request)
      const owner = await managedAccount(database, manager, request.query)
      const { login, role, email = null } = request.body
      return answerOnce(request, reply, { deps, status: 201 }, async on =>
        linkView(await invite(on, manager, { owner, login, role, email })),
      )
    },
  )
}

function listInvitationsRoute(app: App, deps: PeopleRoutesDeps): void {
  const { database, pageReads } = deps
  app.get(
    '/invitations',
    {
      schema: {
        tags,
        security: secured,
        operationId: 'listInvitations',
        summary: 'Invitations that wait',
        description: 'Invitations that were not accepted and have not expired.',
        querystring: schemas.AccountQuery,
        response: { 200: schemas.Invitations, ...portalErrors(unknownAccount) },
      },
    },
    async (request, reply) => {
      const owner = await managedAccount(database, managerOf(request), request.query)
      return { data: (await listInvitations(await pageReads.begin(request, reply), owner)).map(invitationView) }
    },
  )
}

function withdrawInvitationRoute(app: App, deps: PeopleRoutesDeps): void {
  app.delete(
    '/invitations/:invitationId',
    {
      config: idempotent,
      schema: {
        tags,
        security: secured,
        operationId: 'withdrawInvitation',
        summary: 'Withdraw an invitation',
        description: 'The link of the invitation stops working.',
        params: schemas.InvitationPath,
        response: {
          204: { type: 'null', description: 'The invitation is withdrawn' },
          ...portalErrors({ 404: 'The account has no such invitation, or it was accepted' }),
        },
      },
    },
    (request, reply) =>
      answerOnce(request, reply, { deps, status: 204 }, async on => {
        await withdrawInvitation(on, managerOf(request), request.params.invitationId)
        return null
      }) as never,
  )
}
