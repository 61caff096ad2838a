/**
 * Validates input with the same schemas that define types, answers and OpenAPI. All errors are reported at once, each in the
 * contract's form `<field> must be ...` with the full path of a nested field.
 */

import type { ErrorObject, ValidateFunction } from 'ajv/dist/2020.js'
import { Ajv2020 } from 'ajv/dist/2020.js'
import AjvFormats from 'ajv-formats'
import type { FastifySchemaCompiler } from 'fastify'
import type { TSchema } from 'typebox'
import { type BrokenRule, broken, type Rule, type RuleCode, ruleMessage } from '../../error-rules.ts'
import { plainLines } from '../../text/text-rules.ts'
import { uuidForm } from '../../text/uuid.ts'
import { boundKeywords } from './bounded-keywords.ts'
import { innerPath, shownName } from './field-name.ts'

/** The list of errors stops at this number, because nobody reads more. */
const maxErrors = 100

const isDateTime = AjvFormats.default.get('date-time') as { validate(text: string): boolean }

function createAjv(): Ajv2020 {
  const ajv = new Ajv2020({
    allErrors: true,
    verbose: true,
    removeAdditional: false,
    useDefaults: true,
    strict: true,
    strictTypes: false,
    allowUnionTypes: true,
  })
  AjvFormats.default(ajv, ['date', 'uri'])
  // The standard format also accepts the prefix urn:uuid:, which the database does not.
  ajv.addFormat('uuid', uuidForm)
  // The standard format also accepts leap seconds and zones without minutes, which no Date can hold.
  ajv.addFormat('date-time', text => isDateTime.validate(text) && !Number.isNaN(Date.parse(text)))
  // 'x-rule' has a rule whose message replaces the messages of the other keywords in the same schema. The other two are
  // only for the OpenAPI document: 'x-must-be' has the text of 'x-rule', and 'x-documented' has keywords for rules that
  // our own code checks.
  ajv.addVocabulary(['x-rule', 'x-must-be', 'x-documented'])
  boundKeywords(ajv, maxErrors)
  return ajv
}

const ajv = createAjv()

/** The parts of an AJV error that are needed to write its message. */
export type SchemaError = Pick<ErrorObject, 'instancePath' | 'schemaPath' | 'keyword' | 'params' | 'parentSchema'>

/** Finds the schema errors of a value, in a form that can be sent to another process. It writes the schema's defaults into the value. */
export function findErrors(schema: object, value: unknown): SchemaError[] {
  const validate = ajv.compile(schema)
  if (validate(value)) return []
  return (validate.errors ?? []).map(({ instancePath, schemaPath, keyword, params, parentSchema }) => ({
    instancePath,
    schemaPath,
    keyword,
    params,
    parentSchema: { 'x-rule': parentSchema?.['x-rule'] },
  }))
}

/** Bodies that another process has checked, with the errors that it found. */
const checkedBodies = new WeakMap<object, readonly SchemaError[]>()

/** Records the errors that another process has found in a body, so that this process does not check the body again. */
export function noteErrors(body: object, errors: readonly SchemaError[]): void {
  checkedBodies.set(body, errors)
}

/**
 * Compiles each validator for the first request that needs it. Compiling all of them in advance would take most of
 * the time of a start.
 */
export const validatorCompiler = (({ schema, httpPart }) => {
  const typed = httpPart === 'body' ? [] : typedTexts(schema)
  const single = httpPart === 'querystring' ? singleNames(schema) : []
  let validate: ValidateFunction | undefined
  const check = (value: Record<string, unknown>): boolean => {
    const errors = httpPart === 'body' ? checkedBodies.get(value) : undefined
    if (errors) {
      check.errors = errors
      return errors.length === 0
    }
    readTexts(value, typed)
    const repeated = single.filter(name => Array.isArray(value[name])).map(repeatedError)
    validate ??= ajv.compile(schema)
    const found = validate(value) ? [] : (validate.errors ?? [])
    // For a repeated parameter, report only that it was repeated, not that a list has the wrong type.
    const others = found.filter(({ instancePath }) => !repeated.some(error => error.instancePath === instancePath))
    check.errors = [...repeated, ...(httpPart === 'body' ? others : others.map(errorOfText))]
    return check.errors.length === 0
  }
  check.errors = null as readonly SchemaError[] | null
  return check
}) as FastifySchemaCompiler<TSchema>

/** The parameters of a schema that are not lists. When one of them is repeated, the parser of queries makes it a list. */
const singleNames = (schema: TSchema): string[] =>
  Object.entries((schema as { properties?: Record<string, { type?: string }> }).properties ?? {})
    .filter(([, { type }]) => type !== 'array')
    .map(([name]) => name)

const repeatedError = (name: string): SchemaError => ({
  instancePath: `/${name}`,
  schemaPath: `#/properties/${name}/type`,
  keyword: 'type',
  params: {},
  parentSchema: { 'x-rule': { rule: 'given-once', params: {} } },
})

/** Parameters arrive as text, so the error for a boolean says which texts are accepted. */
const errorOfText = (error: SchemaError): SchemaError =>
  error.keyword === 'type' && error.params.type === 'boolean'
    ? { ...error, parentSchema: { 'x-rule': { rule: 'true-or-false', params: {} } } }
    : error

/** The parameters of a schema that are integers or booleans, each with its type. */
const typedTexts = (schema: TSchema): [name: string, { type?: string }][] =>
  Object.entries((schema as { properties?: Record<string, { type?: string }> }).properties ?? {}).filter(
    ([, { type }]) => type === 'integer' || type === 'boolean',
  )

/**
 * Converts query and path parameters, which arrive as text. An integer is at most 15 decimal digits, perhaps with a minus sign before
 * them. A boolean is `true` or `false`. Any other text stays a text, so that the schema check refuses it.
 */
function readTexts(texts: Record<string, unknown>, typed: ReturnType<typeof typedTexts>): void {
  for (const [name, { type }] of typed) {
    const text = texts[name]
    if (typeof text !== 'string') continue
    if (type === 'integer' && /^-?\d{1,15}$/.test(text)) texts[name] = Number(text)
    if (type === 'boolean' && (text === 'true' || text === 'false')) texts[name] = text === 'true'
  }
}

/** Converts the errors to broken rules, without duplicates. */
export function schemaRules(errors: readonly SchemaError[]): BrokenRule[] {
  const rules = new Map<string, BrokenRule>()
  for (const error of withoutBranches(errors)) {
    const rule = ruleOf(error)
    if (rule !== null) rules.set(ruleMessage(rule), rule)
    if (rules.size === maxErrors) break
  }
  return [...rules.values()]
}

/**
 * Leaves out the errors of the branches of `anyOf`, `oneOf` and `if`, if the schema has an `x-rule` that says what to
 * send.
 */
function withoutBranches(errors: readonly SchemaError[]): readonly SchemaError[] {
  const choices = errors.filter(error => choiceKeywords.has(error.keyword) && error.parentSchema?.['x-rule'])
  if (choices.length === 0) return errors
  const isBranchOf = (error: SchemaError, choice: SchemaError) =>
    error !== choice &&
    isAtOrBelow(error.schemaPath, choice.schemaPath) &&
    isAtOrBelow(error.instancePath, choice.instancePath)
  return errors.filter(error => !choices.some(choice => isBranchOf(error, choice)))
}

/** Returns true for equal paths, too, because all errors in the items of a list have the same schema path. */
const isAtOrBelow = (path: string, above: string): boolean => path === above || path.startsWith(`${above}/`)

const choiceKeywords = new Set(['if', 'anyOf', 'oneOf'])

function ruleOf(error: SchemaError): BrokenRule | null {
  const path = error.instancePath.slice(1).replaceAll('/', '.').replaceAll('~1', '/').replaceAll('~0', '~')
  const inner = (name: string) => shownName(innerPath(path, name))
  const { params, keyword } = error
  if (keyword === 'required') return broken(inner(params.missingProperty), 'given')
  if (keyword === 'additionalProperties')
    return broken(inner(params.additionalProperty) || 'the field without a name', 'omitted')
  // The error of `anyOf`, `oneOf` or `if` only says that a branch failed. The error of that branch is reported anyway.
  if (choiceKeywords.has(keyword) && !error.parentSchema?.['x-rule']) return null
  return { field: shownName(path) || 'body', ...requirement(error) }
}

function requirement({ keyword, params, parentSchema }: SchemaError): Rule {
  const own: Rule | undefined = parentSchema?.['x-rule']
  return own ?? keywords[keyword]?.(params) ?? { rule: 'keyword', params: { keyword } }
}

const limited =
  (rule: RuleCode, name: string) =>
  ({ limit }: SchemaError['params']): Rule => ({ rule, params: { [name]: limit } })

const keywords: Record<string, (params: SchemaError['params']) => Rule> = {
  type: ({ type }) => ({ rule: 'type', params: { type: [type].flat().join(' or ') } }),
  maxLength: limited('max-length', 'max'),
  minLength: limited('min-length', 'min'),
  minimum: limited('min', 'min'),
  maximum: limited('max', 'max'),
  exclusiveMinimum: limited('more-than', 'limit'),
  pattern: ({ pattern }) =>
    patterns[pattern] ? { rule: patterns[pattern], params: {} } : { rule: 'keyword', params: { keyword: 'pattern' } },
  multipleOf: ({ multipleOf }) => ({ rule: 'multiple-of', params: { divisor: multipleOf } }),
  minItems: limited('min-items', 'min'),
  maxItems: limited('max-items', 'max'),
  uniqueItems: () => ({ rule: 'no-repetitions', params: {} }),
  enum: ({ allowedValues }) => ({ rule: 'one-of', params: { values: allowedValues.join(', ') } }),
  const: ({ allowedValue }) => ({ rule: 'value', params: { value: String(allowedValue) } }),
  format: ({ format }) =>
    formats[format] ? { rule: formats[format], params: {} } : { rule: 'format', params: { format } },
}

/**
 * The rule that is reported when a text does not match one of these patterns. An `x-rule` in the schema would replace
 * the message about the maximum length, too.
 */
const patterns: Record<string, RuleCode> = { [plainLines]: 'plain-lines' }
const formats: Record<string, RuleCode> = { uuid: 'uuid', uri: 'url', date: 'day', 'date-time': 'date-time' }
