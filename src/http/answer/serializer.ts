/**
 * Answers are written by code that is made from their schemas, so that nothing undocumented gets out. Errors, of which each operation
 * documents many, come from one place only (`errors.ts`): making code for all of them took 25 MB. For the others it is made when the
 * first answer goes out that it is for: most of a start was that code.
 */
import { type SerializerFactory, SerializerSelector } from '@fastify/fast-json-stringify-compiler'

const makeSelect = SerializerSelector()

export const buildSerializer: SerializerFactory = (externalSchemas, options) => {
  const makeCode = makeSelect(externalSchemas, options)
  return route => {
    if (Number(route.httpStatus) >= 400) return JSON.stringify
    let write: ReturnType<typeof makeCode> | undefined
    return answer => {
      write ??= makeCode(route)
      return write(answer)
    }
  }
}
