/**
 * The server enforces exactly the documented rules of values, so a client that is generated from the documents is
 * refused for nothing else.
 */
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { after, before, test } from 'node:test'
import { campaignDirectory, campaignForm, openMerchant, openUser, type Partner } from '../../support/campaigns.ts'
import { startPlatform, type TestPlatform } from '../../support/platform.ts'

const document = JSON.parse(readFileSync(new URL('../../../docs/openapi/perkline.json', import.meta.url), 'utf8'))

let platform: TestPlatform
let grocer: Partner
before(async () => {
  platform = await startPlatform({}, { directory: campaignDirectory })
  grocer = await openMerchant(platform)
})
after(() => platform.close())

type Schema = Record<string, any>

const resolved = (schema: Schema): Schema =>
  schema.$ref ? resolved(document.components.schemas[schema.$ref.split('/').at(-1)]) : schema

/** Returns the alternatives of a schema, without null. */
const alternatives = (schema: Schema): Schema[] =>
  (resolved(schema).anyOf ?? [schema]).map(resolved).filter(({ type }: Schema) => type !== 'null')

/** Makes, for each rule of a schema, a value that breaks this rule and as few other rules as possible. */
function wrongValues(schema: Schema, right: any): [rule: string, value: unknown][] {
  const { type, minLength, maxLength, pattern, format, minimum, maximum, uniqueItems, minItems } = schema
  const wrong: [string, unknown, unknown][] = [
    ['type', type, type === 'boolean' ? 'true' : type === 'array' ? { length: 1 } : [right]],
    ['minLength', minLength, ''],
    ['maxLength', maxLength, 'x'.repeat(maxLength + 1)],
    ['pattern', pattern, '\u0001'],
    ['format', format, 'neither an address nor an id'],
    ['minimum', minimum, minimum - 1],
    ['maximum', maximum, maximum + 1],
    ['uniqueItems', uniqueItems, [right?.[0], right?.[0]]],
    ['minItems', minItems, []],
  ]
  return wrong.filter(([, rule]) => rule !== undefined).map(([name, , value]) => [name, value])
}

test('the form of a campaign: each documented rule of each field is held, and the field is named', async () => {
  const { post } = document.paths['/cashbacks/for-merchant']
  const { properties } = resolved(post.requestBody.content['application/json'].schema)
  const form = campaignForm(platform)
  const tried = new Set<string>()
  for (const [field, schema] of Object.entries<Schema>(properties))
    for (const [rule, value] of alternatives(schema).flatMap(one => wrongValues(one, form[field]))) {
      const { status, body } = await grocer.call('POST', '/cashbacks/for-merchant', {
        body: { ...form, [field]: value },
      })
      const at = `${field}, ${rule}: ${JSON.stringify(value)?.slice(0, 80)} ${JSON.stringify(body)}`
      assert.equal(status, 400, at)
      assert.ok(
        body.message.some((text: string) => text.startsWith(field)),
        at,
      )
      tried.add(rule)
    }
  assert.deepEqual([...tried].sort(), [
    'format',
    'maxLength',
    'maximum',
    'minItems',
    'minLength',
    'minimum',
    'pattern',
    'type',
    'uniqueItems',
  ])
})

test('the parameters of lists: each documented rule is held, and the parameter is named', async () => {
  const alpha = await openUser(platform, { bank: 'alpha' }, 'ADMIN')
  for (const [caller, path] of [
    [grocer, '/cashbacks/for-merchant'],
    [grocer, '/portal/home'],
    [alpha, '/cashbacks/for-bank'],
    [alpha, '/portal/cashbacks'],
    [alpha, '/portal/esim/orders'],
  ] as const) {
    const { parameters = [] } = document.paths[path].get
    let tried = 0
    for (const { name, in: place, schema } of parameters as { name: string; in: string; schema: Schema }[]) {
      if (place !== 'query') continue
      const { pattern, minimum, maximum } = resolved(schema)
      const values = [pattern && '\u0001', minimum !== undefined && minimum - 1, maximum !== undefined && maximum + 1]
      for (const value of values.filter(one => one !== false && one !== undefined)) {
        tried++
        const query = new URLSearchParams({ [name]: String(value) })
        const { status, body } = await caller.call('GET', `${path}?${query}`)
        assert.equal(status, 400, `${path}?${query}: ${JSON.stringify(body)}`)
        assert.ok(
          [body.message].flat().some((text: string) => text.startsWith(name)),
          JSON.stringify(body),
        )
      }
    }
    assert.ok(tried > 0, `${path} documents no rule`)
  }
})
