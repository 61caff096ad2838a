/** The route of the bank's list of campaigns. The other routes of banks are in `routes.ts`, which registers this one. */
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import type { FastifyReply, FastifyRequest } from 'fastify'
import Type from 'typebox'
import { bankOf } from '../../access/request/authenticate.ts'
import type { BrokenRule } from '../../error-rules.ts'
import { chooseEncoding, type Encoding, encodeBytes } from '../../http/answer/content-encoding.ts'
import { disconnectSignal } from '../../http/answer/disconnect-signal.ts'
import { isKnown } from '../../http/answer/etag.ts'
import { sendLong } from '../../http/answer/long-answer.ts'
import { polledAnswerHeaders, polledHeaders } from '../../http/answer/polled-answer.ts'
import { schemaRules } from '../../http/input/validation.ts'
import { ref } from '../../http/openapi/operations.ts'
import { cashbackErrors, secured } from '../../http/schemas.ts'
import type { CampaignRoutesDeps } from '../request/deps.ts'
import { createBankLists } from './list.ts'
import { ListQuery, readFilters, withLists } from './list-query.ts'
import { Campaign } from './list-schemas.ts'
import { listTag } from './list-tag.ts'

const ListHeaders = Type.Object({
  'if-none-match': Type.Optional(
    Type.String({
      description: 'The `ETag` of your last answer: an unchanged list is answered with 304',
      examples: ['"42-kX3b9Qv1Tn0a-gzip"'],
    }),
  ),
  'accept-encoding': Type.Optional(
    Type.String({ description: 'zstd, gzip and br are offered', examples: ['zstd, gzip;q=0.5'] }),
  ),
})

const description =
  'All of them without pages, deleted ones too, with their complete terminals: with `terminalsPlatform` these are the ' +
  'merchant’s terminals in the platform’s directory as they are now. Several filters are combined with AND. Ask again every ' +
  '12 hours with `If-None-Match`: the `ETag` changes with everything that the bank can see, and an unchanged list ' +
  'is answered with 304. ' +
  'The list is sent while it is read, compressed when `Accept-Encoding` takes zstd, gzip or br. A client that reads ' +
  'nothing for 10 seconds, or has not read everything after 90, is disconnected without the end ' +
  'of the chunked body, so that a part is never mistaken for the whole list.'

export const bankListRoutes: FastifyPluginAsyncTypebox<CampaignRoutesDeps> = async (app, deps) => {
  const lists = createBankLists(deps.database)

  const answer = async (request: FastifyRequest, reply: FastifyReply): Promise<unknown> => {
    const filters = readFilters(request.query as never, errorsOf(request))
    const { bankId } = bankOf(request)
    const encoding = chooseEncoding(request.headers['accept-encoding'] as string | undefined)
    const tagOf = (version: number) => listTag({ version, bankId, filters, encoding })
    const known = request.headers['if-none-match']
    if (known !== undefined || request.method === 'HEAD') {
      const tag = tagOf(await lists.version(bankId))
      if (isKnown(known, tag)) return announced(reply, tag).code(304).send()
      if (request.method === 'HEAD') return encoded(announced(reply, tag), encoding).send()
    }
    const { version, body } = await lists.read(bankId, filters, disconnectSignal(reply), () =>
      deps.costlyReads.takePlace(request, reply),
    )
    const bytes = Buffer.isBuffer(body) ? await encodeBytes(body, encoding) : null
    encoded(announced(reply, tagOf(version)), encoding)
    if (Buffer.isBuffer(body)) return reply.send(bytes)
    sendLong(request, reply, { encoding, writeTo: body.writeTo })
    return reply
  }

  const path = '/cashbacks/for-bank'
  const options = {
    attachValidation: true,
    preValidation: async (request: FastifyRequest) => {
      request.query = withLists(request.query as Record<string, unknown>)
    },
  }
  // This HEAD route replaces Fastify's automatic one, which would read the whole list.
  app.head(path, { ...options, schema: { hide: true, querystring: ListQuery } }, answer)
  app.get(
    path,
    {
      ...options,
      exposeHeadRoute: false,
      schema: {
        operationId: 'listBankCampaigns',
        tags: ['Banks'],
        summary: 'Every campaign in which the bank takes part',
        description,
        security: secured,
        headers: ListHeaders,
        querystring: ListQuery,
        response: {
          200: {
            description: 'The campaigns, newest `createdAt` first, then by id',
            headers: polledAnswerHeaders,
            content: { 'application/json': { schema: Type.Array(ref(Campaign)) } },
          },
          304: {
            description: 'Nothing has changed since the answer that `If-None-Match` names',
            headers: polledAnswerHeaders,
          },
          ...cashbackErrors({
            400: 'A parameter is unknown, or a value is invalid',
            503: 'The platform is temporarily unavailable, or too many long lists are being read; try again after `Retry-After` seconds',
          }),
        },
      },
    },
    answer,
  )
}

const errorsOf = ({ validationError }: FastifyRequest): BrokenRule[] =>
  validationError ? schemaRules(validationError.validation) : []

const announced = (reply: FastifyReply, etag: string): FastifyReply => reply.headers({ ...polledHeaders, etag })

/**
 * Sets the headers of the list's response. Call it only when nothing can fail any more: an error is sent uncompressed,
 * so it must not have the header for the compression.
 */
const encoded = (reply: FastifyReply, encoding: Encoding): FastifyReply =>
  reply.type('application/json; charset=utf-8').headers(encoding === 'identity' ? {} : { 'content-encoding': encoding })
