/** Lists that partners poll. Clients may keep the answer and ask with `If-None-Match` whether it is still current. */
import { createHash } from 'node:crypto'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { chooseEncoding } from './content-encoding.ts'
import { isKnown } from './etag.ts'

/**
 * `vary` names the headers that the answer depends on: the compression that the client accepts, and the credentials of
 * the caller.
 */
export const polledHeaders = { 'cache-control': 'private, no-cache', vary: 'accept-encoding, authorization, cookie' }

const text = (description: string) => ({ type: 'string', description })

/** The headers of a polled answer, as the OpenAPI documents declare them. */
export const polledAnswerHeaders = {
  etag: text('The version of this answer, for `If-None-Match`'),
  'cache-control': text('Always `private, no-cache`: store the answer, and revalidate it with `If-None-Match`'),
  vary: text(`Always \`${polledHeaders.vary}\``),
}

/** Answers with a JSON text and its strong entity tag, or with 304 when the client has that version. */
export function sendPolled(request: FastifyRequest, reply: FastifyReply, text: string): FastifyReply {
  const encoding = chooseEncoding(request.headers['accept-encoding'] as string | undefined)
  const hash = createHash('sha256').update(text).digest('base64url').slice(0, 22)
  const etag = `"${hash}-${encoding}"`
  reply.headers({ ...polledHeaders, etag })
  return isKnown(request.headers['if-none-match'], etag)
    ? reply.code(304).send()
    : reply.type('application/json; charset=utf-8').send(text)
}
