/** Builds the `deps` of operations with which the operator changes people and their access. */

import type { FastifyRequest } from 'fastify'
import { withOrigin } from '../../audit-log/request/origin.ts'
import type { Database } from '../../db/database.ts'
import { checkingCaller } from '../../people/managers.ts'

/**
 * Like `withOrigin`. In addition, each transaction first checks that the person who makes the change may still make it.
 * Until the transaction ends, nobody can disable that person or change the person's role.
 */
export const withCheckedCaller = <Deps extends { database: Database }>(deps: Deps, request: unknown) =>
  withOrigin({ ...deps, database: checkingCaller(deps.database, (request as FastifyRequest).caller) }, request)
