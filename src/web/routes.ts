/**
 * Serves the portal below `/app/`: the files that `npm run build` made, and the portal's page for every other address.
 */
import { stat } from 'node:fs/promises'
import { join } from 'node:path'
import fastifyStatic from '@fastify/static'
import type { FastifyPluginAsync, FastifyReply } from 'fastify'
import { readPage, safetyHeaders } from './page.ts'

export type PortalFilesDeps = {
  /** Output of `npm run build`; it may appear or change while the platform runs. */
  folder: string
}

/**
 * The folder of files whose names contain a hash of their content. So a file in this folder never changes under the
 * same name.
 */
const hashed = 'assets/'
/**
 * Matches addresses that end like the name of a file. If this file does not exist, the answer is 404 and not the portal's page.
 */
const fileName = /\.(?:css|gif|html?|ico|jpe?g|js|json|map|mjs|png|svg|txt|webmanifest|webp|woff2?|xml)$/i
const plainPath = /^[\w-][\w.-]*(?:\/[\w-][\w.-]*)*$/

export const portalFileRoutes: FastifyPluginAsync<PortalFilesDeps> = async (app, { folder }) => {
  // Sends the `.br` or `.gz` beside a file to clients that accept it.
  await app.register(fastifyStatic, { serve: false, preCompressed: true, dotfiles: 'ignore', index: false })
  app.addHook('onRequest', (_request, reply, done) => {
    reply.headers(safetyHeaders)
    done()
  })

  // The page reads the query itself and shows what is wrong with it.
  const hidden = { schema: { hide: true }, config: { ignoresQuery: true } }
  app.get('/app', hidden, async (_, reply) => reply.redirect('/app/', 301))

  app.get<{ Params: { '*': string } }>('/app/*', hidden, async (request, reply) => {
    const path = request.params['*']
    if (path.startsWith(hashed)) return reply.sendFile(path, folder, { maxAge: '365d', immutable: true })
    if (plainPath.test(path) && path !== 'index.html' && (await isFile(join(folder, path))))
      return reply.header('cache-control', 'no-cache').sendFile(path, folder, { cacheControl: false })
    if (fileName.test(path) && path !== 'index.html') return reply.callNotFound()
    return sendPage(reply, folder)
  })
}

async function sendPage(reply: FastifyReply, folder: string): Promise<FastifyReply> {
  const { statusCode, html, headers } = await readPage(folder)
  return reply.code(statusCode).headers(headers).type('text/html; charset=utf-8').send(html)
}

const isFile = (path: string): Promise<boolean> =>
  stat(path).then(
    found => found.isFile(),
    () => false,
  )
