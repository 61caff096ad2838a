/** The operator's side of access: the directory of partners, credentials and portal users. */
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import Type from 'typebox'
import { bankRoles } from '../access/caller.ts'
import * as access from '../access/operations.ts'
import type { Refusals } from '../access/refusals.ts'
import { listCredentials, listUsers } from '../access/store.ts'
import { addDuration } from '../duration.ts'
import { DomainError } from '../errors.ts'
import type { Catalogue } from '../esim/catalogue.ts'
import { type ApplyDeps, applyDirectory } from '../partners/operations.ts'

export type AccessAdminDeps = ApplyDeps & { catalogue: Catalogue; refusals: Refusals }

const closed = { additionalProperties: false }
const code = Type.String({ minLength: 1, maxLength: 64 })
const directoryBytes = 64 * 1024 * 1024
const longestOverlapDays = 366

const DirectoryBody = Type.Object(
  { directory: Type.String(), files: Type.Record(Type.String({ maxLength: 1024 }), Type.String(), { default: {} }) },
  closed,
)
const DirectoryQuery = Type.Object({ dryRun: Type.Boolean({ default: false }) }, closed)
const CredentialBody = Type.Object(
  {
    bank: Type.Optional(code),
    merchant: Type.Optional(code),
    role: Type.Optional(Type.Enum([...bankRoles])),
    label: Type.String({ maxLength: 200, default: '' }),
  },
  closed,
)
const RotateBody = Type.Object({ overlap: Type.String({ maxLength: 64, default: 'PT24H' }) }, closed)
const UserBody = Type.Object(
  {
    bank: Type.Optional(code),
    merchant: Type.Optional(code),
    platform: Type.Optional(Type.Literal(true)),
    login: Type.String({
      minLength: 1,
      maxLength: 128,
      pattern: '^\\P{C}+$',
      'x-must-be': 'text of 1 to 128 characters',
    }),
    role: Type.String({ maxLength: 32 }),
    password: Type.String({ minLength: 8, maxLength: 256 }),
  },
  closed,
)
const ClientPath = Type.Object({ clientId: Type.String({ maxLength: 256 }) })
const LoginPath = Type.Object({ login: Type.String({ maxLength: 512 }) })

/** @throws DomainError 'invalid' unless exactly one is named */
function ownerOf(given: { bank?: string; merchant?: string; platform?: true }): access.UserOwner {
  const { bank, merchant, platform } = given
  if ([bank, merchant, platform].filter(named => named !== undefined).length !== 1)
    throw new DomainError('invalid', ['bank must be given, or another one account, and only one'])
  if (platform) return 'platform'
  return bank === undefined ? { merchant: merchant ?? '' } : { bank }
}

export const accessAdminRoutes: FastifyPluginAsyncTypebox<AccessAdminDeps> = async (app, deps) => {
  app.post(
    '/directory',
    {
      bodyLimit: directoryBytes,
      config: { longUpload: true },
      schema: { body: DirectoryBody, querystring: DirectoryQuery },
    },
    async request => {
      const { directory, files } = request.body
      const given = { directory, files: new Map(Object.entries(files)), dryRun: request.query.dryRun }
      const counts = await applyDirectory(deps, given)
      // Whoever applied it sees it in force with the next request; other processes are told at the same moment.
      await Promise.all([deps.catalogue.refresh(), deps.refusals.refresh()])
      return counts
    },
  )

  app.post('/credentials', { schema: { body: CredentialBody } }, async (request, reply) => {
    const { role, label, ...named } = request.body
    const partner = ownerOf(named)
    if (partner === 'platform') throw new DomainError('invalid', ['bank must be given, or merchant'])
    if ('merchant' in partner && role !== undefined)
      throw new DomainError('invalid', ['role must be omitted: a merchant’s credential may do everything'])
    if ('bank' in partner && role === undefined) throw new DomainError('invalid', ['role must be given for a bank'])
    const issued = await access.issueCredential(deps, { partner, role: role ?? 'gateway', label })
    return reply.code(201).header('cache-control', 'no-store').send(issued)
  })

  app.get('/credentials', async () => listCredentials(deps.database))

  app.post(
    '/credentials/:clientId/rotate',
    { ...bodyOptional, schema: { params: ClientPath, body: RotateBody } },
    async (request, reply) => {
      const now = Date.now()
      const overlapMs = (addDuration(new Date(now), request.body.overlap)?.getTime() ?? Number.NaN) - now
      if (!(overlapMs <= longestOverlapDays * 86_400_000))
        throw new DomainError('invalid', ['overlap must be an ISO 8601 duration of at most a year, like PT24H'])
      const rotated = await access.rotateCredential(deps, { clientId: request.params.clientId, overlapMs })
      return reply.header('cache-control', 'no-store').send(rotated)
    },
  )

  app.post('/credentials/:clientId/revoke', { schema: { params: ClientPath } }, async request => {
    const { clientId } = request.params
    await access.revokeCredential(deps, clientId)
    await deps.refusals.refresh()
    return { clientId }
  })

  app.post('/users', { schema: { body: UserBody } }, async (request, reply) => {
    const { login, role, password, ...named } = request.body
    const user = await access.addUser(deps, { owner: ownerOf(named), login, role, password })
    return reply.code(201).send(user)
  })

  app.get('/users', async () => listUsers(deps.database))

  app.post('/users/:login/disable', { schema: { params: LoginPath } }, async request => {
    const { login } = request.params
    await access.disableUser(deps, login)
    await deps.refusals.refresh()
    return { login }
  })
}

const bodyOptional = {
  preValidation: async (request: { body: unknown }) => {
    request.body ??= {}
  },
}
