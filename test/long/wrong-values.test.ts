/**
 * Calls every operation of the Partner API with random values, drawn from one seed: no answer is a 500, and each has a
 * status and a schema of the document (contract/partner-api.md, "Errors").
 */
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { after, before, test } from 'node:test'
import { Ajv2020 } from 'ajv/dist/2020.js'
import AjvFormats from 'ajv-formats'
import { snapshotUrl } from '../support/openapi.ts'
import { startPlatform, type TestPlatform } from '../support/platform.ts'
import fc from '../support/properties.ts'

type Parameter = { name: string; in: string; schema: { type?: string } }
type Operation = {
  operationId: string
  parameters?: Parameter[]
  requestBody?: { content: Record<string, { schema: { properties?: object; $ref?: string } }> }
  responses: Record<string, { content?: Record<string, { schema: object }> }>
}

const runs = 25
const document = JSON.parse(readFileSync(snapshotUrl('partner.json'), 'utf8'))
const operations = Object.entries<Record<string, Operation>>(document.paths).flatMap(([path, methods]) =>
  Object.entries(methods).map(([method, operation]) => ({ path, method: method.toUpperCase(), operation })),
)
let platform: TestPlatform
let token: string
before(async () => {
  platform = await startPlatform()
  token = await platform.bankToken('alpha')
})
after(() => platform?.close())

const ajv = new Ajv2020({ strict: false, validateFormats: true })
AjvFormats.default(ajv)
ajv.addSchema({ components: document.components }, 'partner')
const named = (schema: object) =>
  ajv.compile(JSON.parse(JSON.stringify(schema).replaceAll('"#/components', '"partner#/components')))

const text = fc.oneof(
  // Values that are valid for some parameter, so that the checks of the others are reached, too.
  fc.constantFrom('1', '100', 'order.*', 'pending', 'confirmed', '2026-11-22', 'Europe/Kyiv'),
  fc.constantFrom('', ' ', '0', '-1', '1e3', '9'.repeat(30), 'null', 'true', 'now', '\u0000', 'ї', '..', '%', ','),
  fc.constantFrom(
    '2026-02-30',
    '2026-11-22T08:00:00Z',
    '00000000-0000-4000-8000-000000000000',
    'order.*',
    'x'.repeat(3_000),
  ),
  fc.string({ unit: 'grapheme', maxLength: 20 }),
)
/** Draws a body: an object with the operation's own fields, or any other JSON. */
const bodyOf = (fields: readonly string[]) =>
  fc.oneof(
    fc.jsonValue({ maxDepth: 2 }),
    fc.record(Object.fromEntries(fields.map(name => [name, fc.oneof(text, fc.jsonValue({ maxDepth: 2 }))])), {
      requiredKeys: [],
    }),
  )

function fieldsOf({ requestBody }: Operation): string[] {
  const { schema = {} } = requestBody?.content['application/json'] ?? {}
  const { $ref } = schema as { $ref?: string }
  const found = $ref ? document.components.schemas[$ref.split('/').at(-1) ?? ''] : schema
  return Object.keys(found.properties ?? {})
}

/** The parameter `wait` is not drawn, because it would only make the test wait. */
const isDrawn = ({ name }: Parameter): boolean => name !== 'wait'

for (const { path, method, operation } of operations)
  test(`${operation.operationId}: wrong values`, async () => {
    const parameters = (operation.parameters ?? []).filter(isDrawn)
    const ofPlace = (place: string) => parameters.filter(one => one.in === place).map(({ name }) => name)
    const drawn = (names: readonly string[], requiredKeys?: string[]) =>
      fc.record(Object.fromEntries(names.map(name => [name, text])), requiredKeys && { requiredKeys })
    const request = fc.record({
      places: drawn(ofPlace('path')),
      query: drawn(ofPlace('query'), []),
      ...(operation.requestBody && { body: bodyOf(fieldsOf(operation)) }),
    })
    await fc.assert(
      fc.asyncProperty(request, async ({ places, query, body }) => {
        const address = path.replaceAll(/{(.*?)}/g, (_, name: string) => encodeURIComponent(places[name] ?? ''))
        const search = new URLSearchParams(query as Record<string, string>)
        const target = `${address}?${search}`
        const answer = await platform.call(method, target, { token, ...(body !== undefined && { body }) })
        const declared = operation.responses[answer.status]
        // If a value in the path is empty or only dots, the path belongs to no operation, and the answer is 404.
        if (!declared)
          return assert.equal(
            answer.status,
            Object.values(places).some(one => /^\.*$/.test(one)) ? 404 : 'declared',
            answer.text,
          )
        assert.ok(answer.status < 500, answer.text)
        const schema = declared.content?.['application/json']?.schema
        if (schema) assert.ok(named(schema)(answer.body), answer.text)
      }),
      { numRuns: runs },
    )
  })
