/** The operator's side of the stock: imports, withdrawals, counts, the audit, and sealing anew. */
import { Readable } from 'node:stream'
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import Type from 'typebox'
import { DomainError } from '../errors.ts'
import { audit } from '../esim/audit.ts'
import type { Catalogue } from '../esim/catalogue.ts'
import { importProfiles, rotateKeys, type StockDeps, withdrawProfiles } from '../esim/stock-operations.ts'
import { countStock } from '../esim/stock-store.ts'

export type StockAdminDeps = StockDeps & { catalogue: Catalogue; masterKeys: readonly Buffer[] }

const closed = { additionalProperties: false }
const mostWithdrawn = 10_000
const ndjson = 'application/x-ndjson; charset=utf-8'

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
  const { database, clock, catalogue } = deps

  // The file is read as it comes, so it is handed on unread; its length has no limit.
  app.addContentTypeParser('text/csv', async (_: unknown, payload: Readable) => payload)

  app.post(
    '/profiles',
    { config: { longUpload: true, bodyType: 'text/csv' }, schema: { querystring: ImportQuery } },
    async (request, reply) => {
      const { operator, tariff: tariffCode, skipInvalid } = request.query
      await catalogue.refresh()
      const tariff = catalogue.operatorByCode(operator)?.tariffs.get(tariffCode)
      if (!tariff) throw new DomainError('not-found', `There is no tariff ${tariffCode} of an operator ${operator}`)
      if (!(request.body instanceof Readable)) throw new DomainError('invalid', 'The body must be a CSV file')
      const { rejects, ...result } = await importProfiles(deps, {
        tariffId: tariff.tariffId,
        source: request.body,
        skipInvalid,
      })
      return reply.type(ndjson).send(Readable.from(importAnswer(rejects, result)))
    },
  )

  app.post('/profiles/withdraw', { bodyLimit: 1024 * 1024, schema: { body: WithdrawBody } }, async request =>
    withdrawProfiles(deps, request.body.iccids),
  )

  app.get('/stock', async () => countStock(database, clock.now()))

  app.get('/audit', async () => audit(database, clock.now()))

  app.post('/keys/rotate', async (_, reply) => reply.type(ndjson).send(Readable.from(rotationAnswer(deps))))
}

const line = (value: object): string => `${JSON.stringify(value)}\n`

function* importAnswer(rejects: Iterable<object>, result: object): Generator<string> {
  for (const reject of rejects) yield line({ reject })
  yield line({ result })
}

/** Progress as it comes: whoever waits sees that something is going on. */
async function* rotationAnswer(deps: StockAdminDeps): AsyncGenerator<string> {
  const steps: { done: number; total: number }[] = []
  let wake = Promise.withResolvers<void>()
  const work = rotateKeys(deps, {
    onProgress(step: { done: number; total: number }) {
      steps.push(step)
      wake.resolve()
    },
  }).finally(() => wake.resolve())
  let ended = false
  work.then(
    () => {
      ended = true
    },
    () => {
      ended = true
    },
  )
  while (!ended) {
    await wake.promise
    wake = Promise.withResolvers()
    for (const progress of steps.splice(0)) yield line({ progress })
  }
  const result = await work.catch((error: unknown) => {
    const message = error instanceof DomainError ? error.message : 'The rotation broke off; start it again'
    return { error: message }
  })
  yield line('error' in result ? result : { result })
}
