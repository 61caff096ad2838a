/** The route with which the operator applies directory files. */

import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import type { Refusals } from '../access/refusals.ts'
import { withOrigin } from '../audit-log/request/origin.ts'
import type { Catalogue } from '../esim/catalogue.ts'
import { type ApplyDeps, applyDirectory } from '../partners/operations.ts'
import * as schemas from './directory-schemas.ts'
import { operation, operatorErrors } from './request/documents.ts'

export type DirectoryAdminDeps = ApplyDeps & { catalogue: Catalogue; refusals: Refusals }

const directoryBytes = 64 * 1024 * 1024
/**
 * The maximum number of terminals files in a request. In the JSON body, each file is a field whose name is the file's
 * path.
 */
const maxTerminalsFiles = 100_000

export const directoryAdminRoutes: FastifyPluginAsyncTypebox<DirectoryAdminDeps> = async (app, deps) => {
  app.post(
    '/directory',
    {
      bodyLimit: directoryBytes,
      config: { longUpload: true, jsonBounds: { values: 5_000_000, names: maxTerminalsFiles } },
      schema: {
        ...operation(
          'Partners',
          'applyDirectory',
          'Apply a directory file',
          'All or nothing; may be repeated. Errors name their path and line. A field that an entry leaves out keeps its ' +
            'value; null or an empty list clears it. The answer lists the changes, field by field.',
        ),
        body: schemas.DirectoryBody,
        querystring: schemas.DirectoryQuery,
        response: {
          200: schemas.Applied,
          ...operatorErrors({ 409: 'With `mode` `create`: the codes that exist; nothing was applied' }),
        },
      },
    },
    async request => {
      const { directory, files, mode } = request.body
      const { dryRun } = request.query
      const applied = await applyDirectory(withOrigin(deps, request), {
        directory,
        files: new Map(Object.entries(files)),
        dryRun,
        mode,
      })
      // Refresh here, so that the caller's next request sees the change. Other processes have been notified.
      await Promise.all([deps.catalogue.refresh(), deps.refusals.refresh()])
      return applied
    },
  )
}
