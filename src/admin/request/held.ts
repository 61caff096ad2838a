/** Makes the dependencies of operations with which the operator changes people and their access. */
import type { FastifyRequest } from 'fastify'
import type { Database } from '../../db/database.ts'
import { heldBy } from '../../people/managers.ts'
import { by } from './by.ts'

/**
 * Like `by`. In addition, each transaction first checks that the person who makes the change may still make it. Nobody
 * can disable that person or change the person's role until the transaction has ended.
 */
export const held = <Deps extends { database: Database }>(deps: Deps, request: unknown) =>
  by({ ...deps, database: heldBy(deps.database, (request as FastifyRequest).caller) }, request)
