/** The examples of every operation in the OpenAPI documents are sent to a platform. Each message says what to do. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Ajv2020 } from 'ajv/dist/2020.js'
import AjvFormats from 'ajv-formats'
import { type Exchange, walkExamples } from '../support/example-walk.ts'
import { addressesOf, readExamples } from '../support/examples.ts'
import { advice, type Operation, operations, parsed, texts } from '../support/openapi-operations.ts'

const none: string[] = []

test('every example works when it is tried, and what is answered is as documented', async () => {
  const exchanges = await walkExamples(addressesOf(texts.values()))
  const tried = new Set(exchanges.map(({ operationId }) => operationId))
  const untried = operations.map(({ operation }) => operation.operationId).filter(id => !tried.has(id))
  assert.deepEqual(untried, none, advice)
  const examples = readExamples()
  for (const { operationId, request } of exchanges)
    if (typeof request === 'object')
      assert.deepEqual(examples[operationId]?.request, request, `${operationId}: ${advice}`)
  const validate = createValidator()
  for (const exchange of exchanges) {
    const { operationId, status, answer } = exchange
    const { file, operation } = operations.find(one => one.operation.operationId === operationId) as Operation
    const documented = operation.responses[status]
    assert.ok(documented, `${operationId} answers ${status}, which its document lacks`)
    assertHeaders(exchange, documented)
    const type = answer.headers.get('content-type')?.split(';', 1)[0] ?? ''
    const media = documented.content?.[type]
    if (answer.text !== '') assert.ok(media, `${operationId} ${status} answers ${type}, which its document lacks`)
    if (type === 'application/json') validate(file, `${operationId} ${status}`, media.schema, answer.body)
  }
})

function createValidator() {
  const ajv = new Ajv2020({ strict: false, allErrors: true, validateFormats: true })
  AjvFormats.default(ajv)
  for (const { file, document } of parsed) ajv.addSchema({ components: closed(document.components) }, file)
  return (file: string, at: string, schema: any, value: unknown) => {
    const text = JSON.stringify(closed(schema)).replaceAll('"#/components/', `"${file}#/components/`)
    const check = ajv.compile(JSON.parse(text))
    assert.ok(check(value), `${at} answers what its schema does not have: ${ajv.errorsText(check.errors)}`)
  }
}

/** Returns a copy of a schema in which every object forbids additional fields. */
function closed(schema: any): any {
  if (Array.isArray(schema)) return schema.map(closed)
  if (typeof schema !== 'object' || schema === null) return schema
  const inner = Object.fromEntries(Object.entries(schema).map(([name, part]) => [name, closed(part)]))
  return schema.type === 'object' && schema.properties && schema.additionalProperties === undefined
    ? { ...inner, additionalProperties: false }
    : inner
}

const polled = ['listBankCampaigns', 'listRetailers']
/** Operations that return files which never change. */
const lasting = ['exportStatement', 'exportStatements', 'exportAllStatements']

function cacheControlOf(operationId: string): string {
  if (polled.includes(operationId)) return 'private, no-cache'
  return lasting.includes(operationId) ? 'private, no-transform' : 'no-store'
}

function assertHeaders({ operationId, status, answer: { headers } }: Exchange, documented: any): void {
  const at = `${operationId} ${status}`
  assert.equal(headers.get('x-content-type-options'), 'nosniff', at)
  const isPolled = polled.includes(operationId) && status < 400
  assert.equal(headers.get('cache-control'), status < 400 ? cacheControlOf(operationId) : 'no-store', at)
  if (isPolled) assert.equal(headers.get('vary'), 'accept-encoding, authorization, cookie', at)
  for (const name of ['location', 'content-disposition', 'set-cookie', 'etag'])
    assert.equal(headers.has(name), name in (documented.headers ?? {}), `${at}: declare the header ${name}, or send it`)
  const declared = Object.keys(documented.headers ?? {}).map(name => name.toLowerCase())
  for (const name of headers.keys())
    assert.ok(declared.includes(name) || undeclared.includes(name), `${at}: declare the header ${name}`)
}

/** No document declares these headers, because they are for HTTP itself or for browsers. */
const undeclared = [
  ...['connection', 'content-length', 'content-type', 'date', 'keep-alive', 'transfer-encoding'],
  ...['content-security-policy', 'x-content-type-options'],
]
