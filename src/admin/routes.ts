/**
 * The operator's interface, below `/admin`: the commands (contract/operations.md, "The command line") and the portal of
 * the operator's staff call it.
 */
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import type { EntryDeps } from '../audit-log/batched-entries.ts'
import type { CheckpointDeps } from '../audit-log/checkpoints.ts'
import type { HistoryCursorDeps } from '../campaigns/history/cursors.ts'
import { OperationResult } from '../campaigns/schemas.ts'
import { OperatorError } from '../http/errors.ts'
import { document } from '../http/openapi/operations.ts'
import type { AuditDeps } from '../upkeep/audit/audit.ts'
import { type AccessAdminDeps, accessAdminRoutes } from './access-routes.ts'
import { auditLogAdminRoutes } from './audit-log-routes.ts'
import { auditAdminRoutes } from './audit-routes.ts'
import { campaignReadAdminRoutes } from './campaign-read-routes.ts'
import { type CampaignAdminDeps, campaignAdminRoutes } from './campaign-routes.ts'
import { customerFileAdminRoutes } from './customer-file-routes.ts'
import { customerAdminRoutes } from './customer-routes.ts'
import { type DirectoryAdminDeps, directoryAdminRoutes } from './directory-routes.ts'
import { type EventAdminDeps, eventAdminRoutes } from './event-routes.ts'
import { orderAdminRoutes } from './order-routes.ts'
import { overviewAdminRoutes } from './overview-routes.ts'
import { partnerAdminRoutes } from './partner-routes.ts'
import { type PolicyAdminDeps, policyAdminRoutes } from './policy-routes.ts'
import { authenticateOperator, type OperatorDeps } from './request/authenticate.ts'
import { tags } from './request/documents.ts'
import { statementAdminRoutes } from './statement-routes.ts'
import { type StockAdminDeps, stockAdminRoutes } from './stock-routes.ts'
import { type SupportDeps, supportAdminRoutes } from './support-routes.ts'

export type AdminRoutesDeps = AccessAdminDeps &
  DirectoryAdminDeps &
  StockAdminDeps &
  AuditDeps &
  CampaignAdminDeps &
  PolicyAdminDeps &
  OperatorDeps &
  EventAdminDeps &
  SupportDeps &
  EntryDeps &
  HistoryCursorDeps & { checkpoints: CheckpointDeps; auditYears: number }

const groups: readonly FastifyPluginAsyncTypebox<AdminRoutesDeps>[] = [
  overviewAdminRoutes,
  directoryAdminRoutes,
  accessAdminRoutes,
  policyAdminRoutes,
  partnerAdminRoutes,
  stockAdminRoutes,
  auditAdminRoutes,
  auditLogAdminRoutes,
  supportAdminRoutes,
  orderAdminRoutes,
  statementAdminRoutes,
  campaignReadAdminRoutes,
  customerFileAdminRoutes,
  campaignAdminRoutes,
  customerAdminRoutes,
  eventAdminRoutes,
]

export const adminRoutes: FastifyPluginAsyncTypebox<AdminRoutesDeps> = async (app, deps) => {
  authenticateOperator(app, deps)
  await document(app, {
    title: 'Perkline operator',
    description:
      'For the platform’s operator. The `perkline` commands and the operator’s pages of the portal use it. This page ' +
      'itself needs the operator’s key or the session of a platform user.',
    page: '/swagger',
    tags,
    secured: true,
    tokenDescription:
      'The operator’s key, or the token of a platform user (`POST /auth/login` with `typeAccount=platform`): `admin` may do ' +
      'everything, `viewer` reads. The portal’s session cookie stands for the token.',
    components: [OperatorError, OperationResult],
  })
  for (const routes of groups) await app.register(routes, { ...deps, prefix: '' })
}
