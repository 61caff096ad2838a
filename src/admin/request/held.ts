/** The dependencies of the operator's changes of people and their access. */
import type { FastifyRequest } from 'fastify'
import type { Database } from '../../db/database.ts'
import { heldBy } from '../../people/managers.ts'
import { by } from './by.ts'

/** Like `by`. In addition, the person who makes a change keeps the access for it until the change is committed. */
export const held = <Deps extends { database: Database }>(deps: Deps, request: unknown) =>
  by({ ...deps, database: heldBy(deps.database, (request as FastifyRequest).caller) }, request)
