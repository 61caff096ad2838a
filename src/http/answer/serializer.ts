/**
 * Serializers are generated from the schemas of answers, so that nothing undocumented is sent. Errors all come from `errors.ts`
 * and need no generated serializer, whose code took 25 MB for all documented errors. Each other serializer is generated for the
 * first answer that needs it, because generating all of them took most of the time of a start.
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
