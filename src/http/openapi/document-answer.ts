/**
 * Answers with the text of an OpenAPI document. The text and its compressed forms are made once, because anybody may ask
 * for them without a token, and making them takes as long as hundreds of small requests.
 */
import type { FastifyInstance, preHandlerAsyncHookHandler } from 'fastify'
import { chooseEncoding, encodeBytes } from '../answer/content-encoding.ts'

/**
 * Creates a hook that answers for the routes `/json` and `/yaml` of a documentation page, and leaves all others to the
 * page.
 */
export function createDocumentAnswer(app: FastifyInstance): preHandlerAsyncHookHandler {
  const forms = {
    json: { type: 'application/json; charset=utf-8', text: () => JSON.stringify(app.swagger()) },
    yaml: { type: 'application/x-yaml', text: () => app.swagger({ yaml: true }) },
  }
  const made = new Map<string, Promise<Buffer>>()
  return async (request, reply) => {
    const [, name] = /\/(json|yaml)$/.exec(request.routeOptions.url ?? '') ?? []
    if (name === undefined) return
    const form = forms[name as keyof typeof forms]
    const encoding = chooseEncoding(request.headers['accept-encoding'] as string | undefined)
    const key = `${name} ${encoding}`
    const bytes = made.get(key) ?? encodeBytes(Buffer.from(form.text()), encoding)
    made.set(key, bytes)
    reply.type(form.type).header('vary', 'accept-encoding')
    if (encoding !== 'identity') reply.header('content-encoding', encoding)
    await reply.send(await bytes)
  }
}
