/** Queries and bodies that an operation does not declare. */
import type { FastifyInstance } from 'fastify'
import Type from 'typebox'
import { bodyOptional } from './input/optional-body.ts'
import { closed } from './schemas.ts'

const NoQuery = Type.Object({}, closed)
const NoBody = Type.Object({}, { ...closed, title: 'NoBody' })
const withoutBody = ['GET', 'HEAD']

/**
 * Lets every operation refuse parameters and fields that it does not declare. Otherwise a client that sends `dryRun` to
 * an operation without this parameter would make a real change. A route without parameters or without a body therefore
 * declares none. Call it before the routes are registered.
 */
export function refuseUndeclared(app: FastifyInstance): void {
  app.addHook('onRoute', route => {
    const { schema } = route
    // Pages and files are no operations.
    if (schema?.operationId === undefined) return
    schema.querystring ??= NoQuery
    const takesBody = ![route.method].flat().every(method => withoutBody.includes(method))
    if (!takesBody || schema.body !== undefined) return
    schema.body = NoBody
    route.config = { ...route.config, ...bodyOptional }
  })
}
