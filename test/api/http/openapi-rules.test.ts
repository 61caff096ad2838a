/**
 * What every operation in the OpenAPI documents must have, so that generated clients compile. Each message says what to
 * do. `test/long/openapi-examples.test.ts` tries the examples.
 */
import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { STATUS_CODES } from 'node:http'
import { test } from 'node:test'
import { durationPattern } from '../../../src/text/duration.ts'
import { plainLinePattern, plainLines, visibleLinePattern } from '../../../src/text/text-rules.ts'
import { advice, operations, parsed, texts } from '../../support/openapi-operations.ts'
import { startPlatform } from '../../support/platform.ts'

/** A schema of a document, or the named one that it refers to. */
const referred = (file: string, schema: any): any =>
  schema.$ref
    ? parsed.find(one => one.file === file)?.document.components.schemas[schema.$ref.split('/').at(-1)]
    : schema

/** Every schema of a document and its place. */
function* schemasOf(document: any): Generator<[at: string, schema: any]> {
  for (const [name, schema] of Object.entries(document.components.schemas)) yield* within(name, schema)
  for (const methods of Object.values<any>(document.paths))
    for (const { operationId, parameters = [], requestBody, responses } of Object.values<any>(methods)) {
      for (const { name, schema } of parameters) yield* within(`${operationId}?${name}`, schema)
      for (const { schema } of Object.values<any>(requestBody?.content ?? {}))
        yield* within(`${operationId} body`, schema)
      for (const [status, { content = {} }] of Object.entries<any>(responses))
        for (const { schema } of Object.values<any>(content)) yield* within(`${operationId} ${status}`, schema)
    }
}

function* within(at: string, schema: any): Generator<[string, any]> {
  yield [at, schema]
  for (const [name, part] of Object.entries<any>(schema.properties ?? {})) yield* within(`${at}.${name}`, part)
  if (schema.items) yield* within(`${at}[]`, schema.items)
  for (const keyword of ['anyOf', 'oneOf', 'allOf']) for (const part of schema[keyword] ?? []) yield* within(at, part)
  if (typeof schema.additionalProperties === 'object') yield* within(`${at}{}`, schema.additionalProperties)
}

const none: string[] = []

test('an operator’s example of 404 says what was not found: call it with an unknown object in refusal-walk.ts', () => {
  const general = operations.filter(({ file, operation }) => {
    const { message } = operation.responses['404']?.content?.['application/json']?.example ?? {}
    return file === 'operator.json' && message === 'There is nothing at this path'
  })
  assert.deepEqual(
    general.map(({ operation }) => operation.operationId),
    none,
  )
})

test('operation ids are unique over all documents', () => {
  const ids = operations.map(({ operation }) => operation.operationId)
  assert.deepEqual(
    ids.filter((id, index) => ids.indexOf(id) !== index),
    none,
    'rename the operationId of one of the two',
  )
})

test('no document refers to a file of the repository, which its readers may not have', () => {
  for (const [file, text] of texts) assert.doesNotMatch(text, /\b(docs|contract|src)\/|\.(md|ts)\b/, file)
})

test('no document names a component Error', () => {
  for (const { document } of parsed) assert.ok(!('Error' in document.components.schemas))
})

test('every property and parameter has a description', () => {
  const missing: string[] = []
  const isDescribed = (schema: any): boolean =>
    schema.description !== undefined || schema.$ref !== undefined || (schema.anyOf ?? []).some((one: any) => one.$ref)
  for (const { document } of parsed)
    for (const [at, schema] of schemasOf(document))
      for (const [name, part] of Object.entries(schema.properties ?? {}))
        if (!isDescribed(part)) missing.push(`${at}.${name}`)
  for (const { operation } of operations)
    for (const { name, description, schema } of operation.parameters ?? [])
      if (!description && !isDescribed(schema)) missing.push(`${operation.operationId}?${name}`)
  assert.deepEqual(missing, none, 'give each of them a `description`')
})

test('a schema is written once', () => {
  const copies: string[][] = []
  for (const { document } of parsed) {
    const places = new Map<string, string[]>()
    for (const [at, { title: _, description: __, examples: ___, ...schema }] of schemasOf(document)) {
      if (Object.keys(schema.properties ?? {}).length < 2 && (schema.enum ?? []).length < 3) continue
      const text = JSON.stringify(schema)
      places.set(text, [...(places.get(text) ?? []), at])
    }
    copies.push(...[...places.values()].filter(({ length }) => length > 1))
  }
  assert.deepEqual(copies, [], 'give the schema a `title`: it becomes a component of that name, referred to everywhere')
})

test('generators can read every schema', () => {
  const wrong: string[] = []
  for (const { document } of parsed)
    for (const [at, schema] of schemasOf(document)) {
      if (schema.enum && schema.type === undefined) wrong.push(`${at}: an enum needs a type`)
      if (/\(\?[=!<]|\\[pP]\{/.test(schema.pattern ?? ''))
        wrong.push(`${at}: a pattern needs to do without look-around and \\p (see 'x-documented')`)
      // Some generators write a pattern as the literal of a regular expression, which must not contain a line separator.
      if (/\\u202[89]/.test(schema.pattern ?? '')) wrong.push(`${at}: a pattern needs to do without U+2028 and U+2029`)
      // Many validators divide floating-point numbers, and so refuse valid amounts such as 0.57.
      if (schema.multipleOf !== undefined && !Number.isInteger(schema.multipleOf))
        wrong.push(`${at}: multipleOf needs to be an integer; describe the decimals in words`)
    }
  for (const { file, operation } of operations)
    for (const { name, required, schema } of operation.parameters ?? [])
      if (required && referred(file, schema).default !== undefined)
        wrong.push(`${operation.operationId}?${name}: it has a default, and is required`)
  assert.deepEqual(wrong, none)
})

/**
 * Patterns whose errors have a text of their own without `mustBe`: `http/input/validation.ts` knows one, and our own code checks
 * the documented patterns of texts of campaigns, of durations and of payment references.
 */
const explained = [plainLines, plainLinePattern, visibleLinePattern, durationPattern, '^[!-~]{1,64}$']

test('a request that breaks a pattern is told in words what is right', () => {
  const wrong = new Set<string>()
  const check = (place: string, file: string, schema: any, seen: readonly string[] = []) => {
    if (seen.includes(schema.$ref)) return
    const found = referred(file, schema)
    for (const [at, part] of within(place, found)) {
      if (part.$ref && part !== found) check(at, file, part, [...seen, part.$ref])
      if (part.pattern && !part['x-must-be'] && !explained.includes(part.pattern)) wrong.add(at)
    }
  }
  for (const { file, operation } of operations) {
    for (const { name, schema } of operation.parameters ?? []) check(`${operation.operationId}?${name}`, file, schema)
    for (const { schema } of Object.values<any>(operation.requestBody?.content ?? {}))
      check(`${operation.operationId} body`, file, schema)
  }
  assert.deepEqual([...wrong], none, 'add `...mustBe(rule)`: the error would say "must be right (pattern)"')
})

test('no two names of a document differ only in case: generators write one file for each', () => {
  for (const { file, document } of parsed) {
    const ids = operations.filter(one => one.file === file).map(({ operation }) => operation.operationId)
    const names = [...Object.keys(document.components.schemas), ...ids]
    const folded = names.map(name => name.toLowerCase())
    assert.deepEqual(
      names.filter(name => folded.filter(one => one === name.toLowerCase()).length > 1),
      none,
      file,
    )
  }
})

test('a name of a schema means the same in all documents for partners, so that clients can join them', () => {
  const forPartners = parsed.filter(({ file }) => file !== 'operator.json')
  const meanings = new Map<string, Set<string>>()
  for (const { document } of forPartners)
    for (const [name, schema] of Object.entries(document.components.schemas))
      meanings.set(name, (meanings.get(name) ?? new Set()).add(JSON.stringify(schema)))
  assert.deepEqual(
    [...meanings].filter(([, { size }]) => size > 1).map(([name]) => name),
    none,
    'give one of them another `title` or `$id`',
  )
})

test('an answer of many lines is documented as text, and names the schema of a line', () => {
  const schemas = operations.flatMap(({ operation }) =>
    Object.entries<any>(operation.responses).flatMap(([status, { content }]) => {
      const { schema } = content?.['application/x-ndjson'] ?? {}
      return schema ? [{ at: `${operation.operationId} ${status}`, schema }] : []
    }),
  )
  assert.ok(schemas.length > 0)
  for (const { at, schema } of schemas) {
    assert.equal(schema.type, 'string', at)
    assert.match(schema.contentSchema.items.$ref, /^#\/components\/schemas\//, at)
  }
})

test('only required parameters have an example: the page of a document sends every example', () => {
  const wrong: string[] = []
  for (const { file, operation } of operations)
    for (const { name, required = false, example, examples, schema } of operation.parameters ?? []) {
      const { examples: ofSchema } = referred(file, schema)
      const hasExample = [example, examples, ofSchema].some(one => one !== undefined)
      if (hasExample !== required)
        wrong.push(`${operation.operationId}?${name}: ${required ? 'give it `examples`' : 'describe its example'}`)
    }
  assert.deepEqual(wrong, none)
})

test('every answer declares what it carries', () => {
  const wrong: string[] = []
  for (const { path, operation } of operations)
    for (const [status, { content, headers }] of Object.entries<any>(operation.responses)) {
      const at = `${operation.operationId} ${status}`
      if ((status === '204' || status === '304') && content) wrong.push(`${at} has no content`)
      const asks = (operation.parameters ?? []).map(({ name }: { name: string }) => name)
      if (status === '304' && !asks.includes('if-none-match')) wrong.push(`${at} lacks the parameter if-none-match`)
      if (status === '401' && !headers['www-authenticate']) wrong.push(`${at} lacks www-authenticate`)
      if (Number(status) < 300 && !headers['cache-control']) wrong.push(`${at} lacks cache-control`)
      if (content?.['text/csv'] && !headers['content-disposition']) wrong.push(`${at} lacks content-disposition`)
      const isApi = !/^\/(portal|admin|partner)\b/.test(path)
      if (Number(status) >= 400 && isApi && !headers['perkline-error-code'])
        wrong.push(`${at} lacks perkline-error-code`)
    }
  for (const { method, operation } of operations)
    if (method !== 'GET' && !operation.responses['408']) wrong.push(`${operation.operationId} lacks 408`)
  assert.deepEqual(wrong, none)
})

test('every body has an example', () => {
  const missing: string[] = []
  const lacksExample = (content: any = {}) =>
    Object.entries<any>(content).some(([type, media]) => /json|csv/.test(type) && media.example === undefined)
  for (const { operation } of operations) {
    if (operation.requestBody?.required && lacksExample(operation.requestBody.content))
      missing.push(`${operation.operationId} request`)
    for (const [status, { content }] of Object.entries<any>(operation.responses))
      if (lacksExample(content)) missing.push(`${operation.operationId} ${status}`)
  }
  assert.deepEqual(missing, none, advice)
})

test('the file of a statement has the SHA-256 that the example of the statement names', () => {
  const exampleOf = (id: string): any =>
    Object.values<any>(
      operations.find(({ operation }) => operation.operationId === id)?.operation.responses['200'].content,
    )[0].example
  for (const [statement, file] of [
    ['readStatement', 'exportStatement'],
    ['readAnyStatement', 'exportAllStatements'],
  ] as const)
    assert.equal(createHash('sha256').update(exampleOf(file)).digest('hex'), exampleOf(statement).sha256, file)
})

test('an example of an error has the cause that its description names', () => {
  const wrong: string[] = []
  for (const { operation } of operations)
    for (const [status, { description, content }] of Object.entries<any>(operation.responses)) {
      const { message, text = message } = content?.['application/json']?.example ?? {}
      if (Number(status) < 400 || text === undefined) continue
      const isRunning = text === 'A request with this Idempotency-Key is still running'
      const hasOwnCause = status === '409' && !description.startsWith('A request with this `Idempotency-Key`')
      if (text === STATUS_CODES[status] || (isRunning && hasOwnCause)) wrong.push(`${operation.operationId} ${status}`)
    }
  assert.deepEqual(wrong, none, 'write the text that the code answers into src/http/openapi/error-texts.ts')
})

test('errors, too, stay out of caches, whichever operation they come from', async () => {
  const platform = await startPlatform()
  try {
    for (const { path, method, operation } of operations) {
      const { headers, status } = await platform.call(method, path.replaceAll(/{.*?}/g, 'x'), {
        headers: { authorization: 'Bearer x' },
      })
      const at = `${operation.operationId} ${status}`
      assert.deepEqual(
        [headers.get('cache-control'), headers.get('x-content-type-options')],
        ['no-store', 'nosniff'],
        at,
      )
    }
  } finally {
    await platform.close()
  }
})
