/** Compresses long texts before they are sent. Streams and small answers are sent as they are. */
import type { FastifyInstance, FastifyReply } from 'fastify'
import { chooseEncoding, encodeBytes } from './content-encoding.ts'
import { unknownBody } from './streams.ts'

/** The minimum size of an answer that is compressed. Compressing smaller answers costs more than it saves. */
const worthwhileBytes = 16 * 1024
const texts = /^(?:application\/json|text\/)/

export function compressAnswers(app: FastifyInstance): void {
  app.addHook('onSend', (request, reply, payload, done) => {
    if (!isCompressible(reply, payload)) return done(null, payload)
    if (!reply.hasHeader('vary')) reply.header('vary', 'accept-encoding')
    const encoding = chooseEncoding(request.headers['accept-encoding'] as string | undefined)
    if (encoding === 'identity') return done(null, payload)
    const sendEncoded = (body: unknown) => {
      reply.header('content-encoding', encoding).removeHeader('content-length')
      done(null, body)
    }
    if (request.method === 'HEAD') return sendEncoded(unknownBody())
    encodeBytes(Buffer.from(payload), encoding).then(sendEncoded, done)
  })
}

const isCompressible = (reply: FastifyReply, payload: unknown): payload is string | Buffer =>
  isLong(payload) && !reply.hasHeader('content-encoding') && texts.test(String(reply.getHeader('content-type')))

const isLong = (payload: unknown): payload is string | Buffer =>
  (typeof payload === 'string' || Buffer.isBuffer(payload)) && payload.length >= worthwhileBytes
