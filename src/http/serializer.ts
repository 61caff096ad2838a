/**
 * Answers are written by code that is made from their schemas, so that nothing undocumented gets out. Errors, of which each operation
 * documents many, come from one place only (`errors.ts`): making code for all of them took 25 MB.
 */
import { type SerializerFactory, SerializerSelector } from '@fastify/fast-json-stringify-compiler'

const makeSelect = SerializerSelector()

export const buildSerializer: SerializerFactory = (externalSchemas, options) => {
  const makeCode = makeSelect(externalSchemas, options)
  return route => (Number(route.httpStatus) >= 400 ? JSON.stringify : makeCode(route))
}
