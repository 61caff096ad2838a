/**
 * Routes with which the operator imports, withdraws and counts eSIM profiles, makes new keys for tokens, and encrypts
 * everything again with a new master key.
 */

import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { resealFactors } from '../access/factors/factors.ts'
import { resealTokenKeys, rotateTokenKey } from '../access/token-keys.ts'
import { resealAuditKeys } from '../audit-log/keys.ts'
import { withOrigin } from '../audit-log/request/origin.ts'
import { realMs } from '../clock.ts'
import { broken } from '../error-rules.ts'
import { DomainError } from '../errors.ts'
import type { Catalogue } from '../esim/catalogue.ts'
import { countStock } from '../esim/sold/figures-store.ts'
import { type DeskTariff, readStockDesk } from '../esim/stock/desk.ts'
import { importProfiles, rotateKeys, type StockDeps } from '../esim/stock/operations.ts'
import { withdrawProfiles } from '../esim/stock/withdrawal.ts'
import { sendLines, sendProgress } from '../http/answer/line-answer.ts'
import type { App } from '../http/app.ts'
import type { ReadDeps } from '../http/limits/costly-reads.ts'
import { csvType, takeUploads, uploadRoute, withUpload } from '../http/upload/upload-route.ts'
import { resealAnswers } from '../idempotency/answers.ts'
import { resealMails } from '../people/mail/mails.ts'
import { resealSecrets } from '../webhooks/stored-secrets.ts'
import { csvBody, lines, operation, operatorErrors } from './request/documents.ts'
import * as schemas from './stock-schemas.ts'

export type StockAdminDeps = StockDeps & ReadDeps & { catalogue: Catalogue; masterKeys: readonly Buffer[] }

export const stockAdminRoutes: FastifyPluginAsyncTypebox<StockAdminDeps> = async (app, deps) => {
  await app.register(importRoute, deps)
  await app.register(tokenKeysRoute, deps)
  withdrawProfilesRoute(app, deps)
  countStockRoute(app, deps)
  readStockDeskRoute(app, deps)
  rotateKeysRoute(app, deps)
}

function withdrawProfilesRoute(app: App, deps: StockAdminDeps): void {
  app.post(
    '/profiles/withdraw',
    {
      bodyLimit: 1024 * 1024,
      config: { jsonBounds: { values: schemas.maxWithdrawn + 100 } },
      schema: {
        ...operation(
          'Stock',
          'withdrawProfiles',
          'Take free profiles out of sale',
          'For good. With `operator` and `tariff` only profiles of that tariff. An ICCID that is given twice counts once. `problems` ' +
            'says why other profiles were not withdrawn.',
        ),
        body: schemas.WithdrawBody,
        response: {
          200: schemas.Withdrawn,
          ...operatorErrors({ 404: 'There is no such mobile operator or tariff' }),
        },
      },
    },
    async request => {
      const { iccids, ...scope } = request.body
      return withdrawProfiles(withOrigin(deps, request), {
        iccids,
        tariffIds: await tariffIdsOf(deps.catalogue, scope),
      })
    },
  )
}

function countStockRoute(app: App, deps: StockAdminDeps): void {
  const { clock, costlyReads } = deps
  app.get(
    '/stock',
    {
      schema: {
        ...operation('Stock', 'countStock', 'Profiles by state', 'Every tariff: free, reserved, sold and withdrawn.'),
        response: { 200: schemas.Stock, ...operatorErrors() },
      },
    },
    async (request, reply) => countStock(await costlyReads.begin(request, reply), clock.now()),
  )
}

function readStockDeskRoute(app: App, deps: StockAdminDeps): void {
  const { clock, costlyReads } = deps
  app.get(
    '/stock-desk',
    {
      schema: {
        ...operation(
          'Stock',
          'readStockDesk',
          'How long the stock lasts',
          'Every tariff with its profiles by state, recent sales, and a mark where new profiles are needed.',
        ),
        response: { 200: schemas.StockDesk, ...operatorErrors() },
      },
    },
    async (request, reply) => {
      const desk = await costlyReads.read(request, reply, database => readStockDesk({ database, clock }))
      return desk.map(deskView)
    },
  )
}

/**
 * @throws DomainError 'conflict' when a key or secret cannot be decrypted. It names these token keys, and the endpoints
 *   with such secrets
 */
function requireReadable({ tokenKeys, endpoints }: Record<'tokenKeys' | 'endpoints', readonly string[]>): void {
  const problems: string[] = []
  if (tokenKeys.length > 0)
    problems.push(
      `token keys that cannot be decrypted: ${namesOf(tokenKeys)}. Keep the other keys, add the former master key to MASTER_KEY, then ` +
        'start again; if none of yours decrypts them, find out who wrote to the table token_keys, and delete these rows',
    )
  if (endpoints.length > 0)
    problems.push(
      `secrets that cannot be decrypted, of these endpoints: ${namesOf(endpoints)}. Keep the other keys, ` +
        'give each a new secret (perkline endpoints rotate-secret ID --overlap PT0S), then start again',
    )
  if (problems.length > 0)
    throw new DomainError('conflict', `Everything is re-encrypted but ${problems.join('. Also not: ')}`)
}

function namesOf(ids: readonly string[]): string {
  const others = ids.length > maxNamed ? ` and ${ids.length - maxNamed} more` : ''
  return `${ids.slice(0, maxNamed).join(', ')}${others}`
}

const maxNamed = 10

function rotateKeysRoute(app: App, deps: StockAdminDeps): void {
  const { database } = deps
  app.post(
    '/keys/rotate',
    {
      schema: {
        ...operation(
          'Upkeep',
          'rotateKeys',
          'Encrypt every profile with the first master key',
          'The other keys can be removed afterwards. The answer reports progress. If it is interrupted, start it again.',
        ),
        response: { 200: lines(schemas.RotationLine, 'Progress, and at the end the result'), ...operatorErrors() },
      },
    },
    async (request, reply) =>
      sendProgress(reply, async report => {
        const tokenKeys = await resealTokenKeys(database, deps.masterKeys, realMs())
        await resealAnswers(deps)
        await resealFactors(database, deps.masterKeys)
        await resealMails(database, deps.masterKeys)
        const endpoints = await resealSecrets(deps)
        await resealAuditKeys(database, deps.masterKeys)
        const result = await rotateKeys(withOrigin(deps, request), { onProgress: progress => report({ progress }) })
        requireReadable({ tokenKeys, endpoints })
        report({ result })
      }),
  )
}

const tokenKeysRoute: FastifyPluginAsyncTypebox<StockAdminDeps> = async (app, { database, masterKeys }) => {
  app.post(
    '/keys/rotate-tokens',
    {
      schema: {
        ...operation(
          'Upkeep',
          'rotateTokenKey',
          'Make a new key pair for access tokens',
          'The new pair signs as soon as every process knows it. Tokens that were issued before stay valid until they expire.',
        ),
        response: { 200: schemas.TokenKey, ...operatorErrors() },
      },
    },
    async request => {
      // Security rules use real time, even when the sandbox's clock was moved.
      const { keyId, signsFrom } = await rotateTokenKey(withOrigin({ database, masterKeys }, request), realMs())
      return { keyId, signsFrom: signsFrom.toISOString() }
    },
  )
}

const deskView = ({ importedAt, ...tariff }: DeskTariff) => ({
  ...tariff,
  importedAt: importedAt?.toISOString() ?? null,
})

const importSchema = {
  ...operation(
    'Stock',
    'importProfiles',
    'Load profiles into a tariff',
    'CSV with the header `iccid,msisdn,pin1,activationCode`, of any length, all or nothing. A profile that is in ' +
      'stock already is a ' +
      'duplicate and stays as it is. Without `skipInvalid` a file with errors is refused, and the first 20 are listed by line.',
  ),
  consumes: ['text/csv'],
  querystring: schemas.ImportQuery,
  body: csvBody('The stock file'),
  response: {
    200: lines(schemas.ImportLine, 'Each skipped line, and at the end the result'),
    ...operatorErrors({ 404: 'There is no such tariff' }),
  },
}

/** The route that imports stock. It is a separate plugin, because only this route accepts a file. */
const importRoute: FastifyPluginAsyncTypebox<StockAdminDeps> = async (app, deps) => {
  const { catalogue } = deps
  takeUploads(app, csvType)

  app.post('/profiles', { ...uploadRoute(csvType), schema: importSchema }, async (request, reply) => {
    const { operator, tariff: tariffCode, skipInvalid, dryRun } = request.query
    const [tariffId = 0] = (await tariffIdsOf(catalogue, { operator, tariff: tariffCode })) ?? []
    const { rejects, ...result } = await withUpload(request, reply, source =>
      importProfiles(withOrigin(deps, request), { tariffId, source, skipInvalid, dryRun }),
    )
    return sendLines(reply, importAnswer(rejects, result))
  })
}

/**
 * @returns the id of the named tariff, or the ids of all tariffs of the named operator; null, which means all tariffs,
 *   when no operator is named
 * @throws DomainError 'not-found' for an unknown operator or tariff; 'invalid' for a tariff without its operator
 */
async function tariffIdsOf(
  catalogue: Catalogue,
  { operator, tariff }: { operator?: string; tariff?: string },
): Promise<number[] | null> {
  if (operator === undefined) {
    if (tariff !== undefined) throw new DomainError('invalid', [broken('operator', 'with-tariff')])
    return null
  }
  await catalogue.refresh()
  const tariffs = catalogue.operatorByCode(operator)?.tariffs
  if (!tariffs) throw new DomainError('not-found', `There is no operator ${operator}`)
  if (tariff === undefined) return [...tariffs.values()].map(({ tariffId }) => tariffId)
  const found = tariffs.get(tariff)
  if (!found) throw new DomainError('not-found', `There is no tariff ${tariff} of an operator ${operator}`)
  return [found.tariffId]
}

function* importAnswer(rejects: Iterable<object>, result: object): Generator<object> {
  for (const reject of rejects) yield { reject }
  yield { result }
}
