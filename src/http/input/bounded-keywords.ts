/**
 * Replaces `items` and `additionalProperties` of JSON Schema. AJV would check every value, even millions. These
 * keywords stop at a maximum of errors, so that a body of 16 MiB full of errors costs no more time and memory than a
 * valid one.
 */
import type { Ajv2020, AnySchema, AnySchemaObject, ErrorObject } from 'ajv/dist/2020.js'
import type { DataValidateFunction, DataValidationCxt } from 'ajv/dist/types/index.js'

/**
 * Replaces the two keywords of an AJV instance.
 *
 * @param maxErrors the maximum number of errors that are reported for one list or object
 */
export function boundKeywords(ajv: Ajv2020, maxErrors: number): void {
  // The meta-schema is compiled at first use and needs the original keywords.
  ajv.compile({})
  ajv.removeKeyword('items')
  ajv.addKeyword({
    keyword: 'items',
    type: 'array',
    schemaType: ['object', 'boolean'],
    errors: 'full',
    compile(schema: AnySchema, parent: AnySchemaObject) {
      const check = checkEach(ajv, schema, maxErrors)
      const { maxItems = Number.POSITIVE_INFINITY } = parent
      const validate: DataValidateFunction = (list: unknown[], at?: DataValidationCxt) => {
        // If the list is too long, check no entries: the keyword `maxItems` reports the error.
        const violations = list.length > maxItems ? [] : check(list.entries(), at)
        validate.errors = violations
        return violations.length === 0
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
      const check = schema === false ? refuseEach(maxErrors) : checkEach(ajv, schema, maxErrors)
      const validate: DataValidateFunction = (value: object, at?: DataValidationCxt) => {
        const violations = check(additional(value, known), at)
        validate.errors = violations
        return violations.length === 0
      }
      return validate
    },
  })
}

type Check = (entries: Iterable<[string | number, unknown]>, at?: DataValidationCxt) => ErrorObject[]

/**
 * Makes a check that validates each value separately. Error paths begin at the root of the body. It stops once
 * `maxErrors` errors are found.
 */
function checkEach(ajv: Ajv2020, schema: AnySchema, maxErrors: number): Check {
  const validate = ajv.compile(schema)
  return (entries, at) => {
    const errors: ErrorObject[] = []
    for (const [name, value] of entries) {
      if (validate(value)) continue
      const path = `${at?.instancePath ?? ''}/${escaped(name)}`
      for (const error of validate.errors ?? []) errors.push({ ...error, instancePath: path + error.instancePath })
      if (errors.length >= maxErrors) break
    }
    return errors
  }
}

function refuseEach(maxErrors: number): Check {
  return (entries, at) => {
    const errors: ErrorObject[] = []
    for (const [name] of entries) {
      const additionalProperty = String(name)
      errors.push({
        keyword: 'additionalProperties',
        instancePath: at?.instancePath ?? '',
        schemaPath: '#/additionalProperties',
        params: { additionalProperty },
      })
      if (errors.length >= maxErrors) break
    }
    return errors
  }
}

function* additional(value: object, known: ReadonlySet<string>): Generator<[string, unknown]> {
  for (const name in value) if (!known.has(name)) yield [name, value[name as keyof typeof value]]
}

/** Escapes a name for a JSON Pointer. */
const escaped = (name: string | number): string =>
  typeof name === 'number' ? String(name) : name.replaceAll('~', '~0').replaceAll('/', '~1')
