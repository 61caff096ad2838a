/**
 * `items` and `additionalProperties` of JSON Schema, which AJV would check to the last of millions: here they stop once there are more
 * faults than anybody reads, so that a body of 16 MiB with nothing but faults costs no more time and memory than a good one.
 */
import type { Ajv2020, AnySchema, AnySchemaObject, ErrorObject } from 'ajv/dist/2020.js'
import type { DataValidateFunction, DataValidationCxt } from 'ajv/dist/types/index.js'

/** @param mostFaults of one list or object */
export function boundKeywords(ajv: Ajv2020, mostFaults: number): void {
  // The schema of schemas is compiled at first use, and needs the keywords as they are.
  ajv.compile({})
  ajv.removeKeyword('items')
  ajv.addKeyword({
    keyword: 'items',
    type: 'array',
    schemaType: ['object', 'boolean'],
    errors: 'full',
    compile(schema: AnySchema, parent: AnySchemaObject) {
      const check = checkEach(ajv, schema, mostFaults)
      const { maxItems = Number.POSITIVE_INFINITY } = parent
      const validate: DataValidateFunction = (list: unknown[], at?: DataValidationCxt) => {
        // That it is too long is told already.
        const faults = list.length > maxItems ? [] : check(list.entries(), at)
        validate.errors = faults
        return faults.length === 0
      }
      return validate
    },
  })
  ajv.removeKeyword('additionalProperties')
  ajv.addKeyword({
    keyword: 'additionalProperties',
    type: 'object',
    schemaType: ['object', 'boolean'],
    errors: 'full',
    compile(schema: AnySchema, parent: AnySchemaObject) {
      const known = new Set(Object.keys(parent.properties ?? {}))
      const check = schema === false ? refuseEach(mostFaults) : checkEach(ajv, schema, mostFaults)
      const validate: DataValidateFunction = (given: object, at?: DataValidationCxt) => {
        const faults = check(additional(given, known), at)
        validate.errors = faults
        return faults.length === 0
      }
      return validate
    },
  })
}

type Check = (entries: Iterable<[string | number, unknown]>, at?: DataValidationCxt) => ErrorObject[]

/** Each value is checked by itself; its faults are given with the path from the root. */
function checkEach(ajv: Ajv2020, schema: AnySchema, mostFaults: number): Check {
  const validate = ajv.compile(schema)
  return (entries, at) => {
    const faults: ErrorObject[] = []
    for (const [name, value] of entries) {
      if (validate(value)) continue
      const path = `${at?.instancePath ?? ''}/${escaped(name)}`
      for (const fault of validate.errors ?? []) faults.push({ ...fault, instancePath: path + fault.instancePath })
      if (faults.length >= mostFaults) break
    }
    return faults
  }
}

function refuseEach(mostFaults: number): Check {
  return (entries, at) => {
    const faults: ErrorObject[] = []
    for (const [name] of entries) {
      const additionalProperty = String(name)
      faults.push({
        keyword: 'additionalProperties',
        instancePath: at?.instancePath ?? '',
        schemaPath: '#/additionalProperties',
        params: { additionalProperty },
      })
      if (faults.length >= mostFaults) break
    }
    return faults
  }
}

function* additional(given: object, known: ReadonlySet<string>): Generator<[string, unknown]> {
  for (const name in given) if (!known.has(name)) yield [name, given[name as keyof typeof given]]
}

/** As a JSON Pointer has it. */
const escaped = (name: string | number): string =>
  typeof name === 'number' ? String(name) : name.replaceAll('~', '~0').replaceAll('/', '~1')
