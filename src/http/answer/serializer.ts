/**
 * Serializers are generated from the schemas of answers, so that nothing undocumented is sent. All errors come from
 * `errors.ts` and need no generated serializer: the code for all documented errors took 25 MB. Every other serializer
 * is generated for the first answer that needs it, because generating all of them took most of the time of a start.
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
