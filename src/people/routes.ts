/** All routes below `/portal` with which people handle their own accounts. */
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import type { FactorDeps } from '../access/factors/factors.ts'
import type { Logins } from '../access/logins.ts'
import { type AccountRoutesDeps, accountRoutes } from './account-routes.ts'
import { openPeopleRoutes } from './open-routes.ts'
import { peopleRoutes } from './people-routes.ts'
import { type SelfRoutesDeps, selfRoutes } from './self-routes.ts'

/** `people` has the dependencies that only these routes need. */
export type PeoplePortalDeps = Pick<
  AccountRoutesDeps,
  'database' | 'pageReads' | 'tokens' | 'refusals' | 'refusalSums' | 'activity' | 'publicUrl'
> & {
  logins: Logins
  people: Pick<AccountRoutesDeps, 'mails' | 'staffUrl' | 'platformMfa' | 'countSettingsChange'> &
    Pick<SelfRoutesDeps, 'countLanguageChange'>
  factors: FactorDeps
}

export const peoplePortalRoutes: FastifyPluginAsyncTypebox<PeoplePortalDeps> = async (app, deps) => {
  const own = { ...deps, ...deps.factors, ...deps.people, database: deps.database, prefix: '' }
  const { malformed, hashingPlaces, linkConflicts, admitsStaff } = deps.logins
  await app.register(openPeopleRoutes, { ...own, malformed, hashingPlaces, linkConflicts, admitsStaff })
  await app.register(peopleRoutes, own)
  await app.register(accountRoutes, own)
  await app.register(selfRoutes, { ...own, hashingPlaces })
}
