/** Ways of calling an operation wrongly, for the examples of errors in the documents. */

export type Address = { method: string; path: string; operation: Operation }
type Operation = {
  parameters?: { name: string; in: string; schema: { type?: string } }[]
  responses: Record<string, unknown>
}
type Call = {
  as?: string
  path?: Record<string, string>
  query?: Record<string, string>
  body?: unknown
  live?: object
}

const uuid = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/
const unknownId = '00000000-0000-4000-8000-000000000000'
/** Paths that only banks or only merchants may call. */
const ofOneKind = /^\/(esim|cashbacks)\//
const otherKind: Record<string, string> = { alpha: 'grocer', beta: 'grocer', grocer: 'alpha' }

/**
 * From a call that succeeds, makes calls that must fail: without a token, by the other kind of partner, for an
 * unknown object, and with a wrong value. None of them changes anything.
 */
export function refusalsOf<Step extends Call>(address: Address, step: Step): Step[] {
  const { operation } = address
  const { as = 'alpha' } = step
  const refusals: Step[] = [...withWrongValue(operation, step)]
  if (as === 'nobody') refusals.push(...withWrongSecret(step))
  else refusals.push({ ...step, as: 'nobody' })
  if (otherKind[as] && ofOneKind.test(address.path) && operation.responses['403'])
    refusals.push({ ...step, as: otherKind[as] })
  if (operation.responses['404']) refusals.push(...withUnknownObject(operation, step))
  return refusals
}

/** Fields of a body and parameters of a query that name an object. An unknown object is an error. */
const naming = ['bank', 'merchant', 'account', 'tariff', 'customerId', 'tariffCode', 'externalId']
const unknown = (name: string): string => (name === 'account' ? unknownId : 'unknown')

function withUnknownObject<Step extends Call>({ parameters = [] }: Operation, step: Step): Step[] {
  const { path, query, body } = step
  if (path) return [{ ...step, path: changed(path, value => (uuid.test(value) ? unknownId : 'unknown')) }]
  const field = naming.find(name => name in Object(body))
  if (field) return [{ ...step, live: { ...step.live, [field]: unknown(field) } }]
  const parameter = naming.find(name => parameters.some(one => one.in === 'query' && one.name === name))
  return parameter ? [{ ...step, query: { ...query, [parameter]: unknown(parameter) } }] : []
}

function withWrongValue<Step extends Call>({ parameters = [] }: Operation, step: Step): Step[] {
  const { body, path } = step
  const [field] = Object.keys(Object(typeof body === 'object' ? body : undefined))
  if (field) return [{ ...step, live: { ...step.live, [field]: {} } }]
  const number = parameters.find(one => one.in === 'query' && one.schema.type === 'integer')
  if (number) return [{ ...step, query: { ...step.query, [number.name]: 'x' } }]
  if (path && Object.values(path).some(value => uuid.test(value)))
    return [{ ...step, path: changed(path, value => (uuid.test(value) ? 'x' : value)) }]
  return []
}

function withWrongSecret<Step extends Call>(step: Step): Step[] {
  const secret = ['token', 'secret', 'password'].find(name => name in Object(step.body))
  return secret ? [{ ...step, live: { ...step.live, [secret]: 'not the right one' } }] : []
}

const changed = (values: Record<string, string>, change: (value: string) => string): Record<string, string> =>
  Object.fromEntries(Object.entries(values).map(([name, value]) => [name, change(value)]))
