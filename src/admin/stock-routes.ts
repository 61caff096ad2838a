/** The operator's side of the stock: imports, withdrawals, counts, the audit, and sealing anew. */
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import Type from 'typebox'
import { DomainError } from '../errors.ts'
import type { Catalogue } from '../esim/catalogue.ts'
import { importProfiles, rotateKeys, type StockDeps, withdrawProfiles } from '../esim/stock-operations.ts'
import { countStock } from '../esim/stock-store.ts'
import { audit } from './audit.ts'
import { csvRoute, takeCsvFiles, withCsvFile } from './csv-route.ts'
import { sendLines, sendProgress } from './line-answer.ts'

export type StockAdminDeps = StockDeps & { catalogue: Catalogue; masterKeys: readonly Buffer[] }

const closed = { additionalProperties: false }
const mostWithdrawn = 10_000

const ImportQuery = Type.Object(
  {
    operator: Type.String({ minLength: 1, maxLength: 64 }),
    tariff: Type.String({ minLength: 1, maxLength: 64 }),
    skipInvalid: Type.Boolean({ default: false }),
  },
  closed,
)
const WithdrawBody = Type.Object(
  { iccids: Type.Array(Type.String({ maxLength: 32 }), { minItems: 1, maxItems: mostWithdrawn }) },
  closed,
)

export const stockAdminRoutes: FastifyPluginAsyncTypebox<StockAdminDeps> = async (app, deps) => {
  const { database, clock } = deps
  await app.register(importRoute, deps)

  app.post('/profiles/withdraw', { bodyLimit: 1024 * 1024, schema: { body: WithdrawBody } }, async request =>
    withdrawProfiles(deps, request.body.iccids),
  )

  app.get('/stock', async () => countStock(database, clock.now()))

  app.get('/audit', async () => audit(database, clock.now()))

  app.post('/keys/rotate', async (_, reply) =>
    sendProgress(reply, async tell => {
      const result = await rotateKeys(deps, { onProgress: progress => tell({ progress }) })
      tell({ result })
    }),
  )
}

/** On its own, as it alone takes a file, and nothing but a file. */
const importRoute: FastifyPluginAsyncTypebox<StockAdminDeps> = async (app, deps) => {
  const { catalogue } = deps
  takeCsvFiles(app as unknown as FastifyInstance)

  app.post('/profiles', { ...csvRoute, schema: { querystring: ImportQuery } }, async (request, reply) => {
    const { operator, tariff: tariffCode, skipInvalid } = request.query
    await catalogue.refresh()
    const tariff = catalogue.operatorByCode(operator)?.tariffs.get(tariffCode)
    if (!tariff) throw new DomainError('not-found', `There is no tariff ${tariffCode} of an operator ${operator}`)
    const { rejects, ...result } = await withCsvFile(request as FastifyRequest, reply as FastifyReply, source =>
      importProfiles(deps, { tariffId: tariff.tariffId, source, skipInvalid }),
    )
    return sendLines(reply as FastifyReply, importAnswer(rejects, result))
  })
}

function* importAnswer(rejects: Iterable<object>, result: object): Generator<object> {
  for (const reject of rejects) yield { reject }
  yield { result }
}
