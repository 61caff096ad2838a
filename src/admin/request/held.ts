/** What changes of people and their access at the operator's interface work with. */
import type { FastifyRequest } from 'fastify'
import type { Database } from '../../db/database.ts'
import { heldBy } from '../../people/managers.ts'
import { by } from './by.ts'

/** As `by`; and until a change is committed, nobody takes the access of the person away who makes it. */
export const held = <Deps extends { database: Database }>(deps: Deps, request: unknown) =>
  by({ ...deps, database: heldBy(deps.database, (request as FastifyRequest).caller) }, request)
