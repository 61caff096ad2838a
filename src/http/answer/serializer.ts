/**
 * Serializers are generated from the schemas of answers, so that nothing undocumented is sent. Errors come from one place
 * (`errors.ts`) and need none: generating code for all documented errors took 25 MB. Other serializers are generated for the
 * first answer that needs them, because generating all of them took most of a start.
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
