/** The type of the app to which routes are added. */
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'

/** Derives the types of a route's input and answers from its schemas. */
export type App = Parameters<FastifyPluginAsyncTypebox>[0]
