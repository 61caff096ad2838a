/** Compresses long texts before they are sent. Streams and small answers are sent as they are. */
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { chooseEncoding, encodeBytes } from './content-encoding.ts'

/** The minimum size of an answer that is compressed. Compressing smaller answers costs more than it saves. */
const worthwhileBytes = 16 * 1024
const texts = /^(?:application\/json|text\/)/

export function compressAnswers(app: FastifyInstance): void {
  app.addHook('onSend', (request, reply, payload, done) => {
    if (!isCompressible(request, reply, payload)) return done(null, payload)
    if (!reply.hasHeader('vary')) reply.header('vary', 'accept-encoding')
    const encoding = chooseEncoding(request.headers['accept-encoding'] as string | undefined)
    if (encoding === 'identity') return done(null, payload)
    encodeBytes(Buffer.from(payload), encoding).then(bytes => {
      reply.header('content-encoding', encoding).removeHeader('content-length')
      done(null, bytes)
    }, done)
  })
}

const isCompressible = (request: FastifyRequest, reply: FastifyReply, payload: unknown): payload is string | Buffer =>
  isLong(payload) &&
  request.method !== 'HEAD' &&
  !reply.hasHeader('content-encoding') &&
  texts.test(String(reply.getHeader('content-type')))

const isLong = (payload: unknown): payload is string | Buffer =>
  (typeof payload === 'string' || Buffer.isBuffer(payload)) && payload.length >= worthwhileBytes
