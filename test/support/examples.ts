/**
 * Records the examples of the OpenAPI documents: `npm run examples` records those that are missing or whose shape has
 * changed, `npm run examples -- --all` records all of them.
 */
import { readFileSync, writeFileSync } from 'node:fs'
import type { ErrorExample } from '../../src/http/openapi/error-texts.ts'
import { type ErrorExamples, type Examples, errorExamplesUrl, examplesUrl } from '../../src/http/openapi/examples.ts'
import { type Exchange, walkExamples } from './example-walk.ts'
import { readDocuments } from './openapi.ts'
import type { Address } from './refusal-walk.ts'

export const readExamples = (): Examples => JSON.parse(readFileSync(examplesUrl, 'utf8')) as Examples

/** Each operation of documents, with its method and path. */
export function addressesOf(documents: Iterable<string>): Map<string, Address> {
  const addresses = new Map<string, Address>()
  for (const text of documents)
    for (const [path, methods] of Object.entries<Record<string, any>>(JSON.parse(text).paths))
      for (const [method, operation] of Object.entries(methods))
        addresses.set(operation.operationId, { method: method.toUpperCase(), path, operation })
  return addresses
}

const mostItems = 2
const hidden: Record<string, string> = {
  access_token: 'eyJhbGciOiJFZERTQSJ9.eyJzdWIiOiJwa19zYW1wbGVfYWxwaGEifQ.c2lnbmF0dXJl',
  secret: 'keep-it-secret',
  base64: 'iVBORw0KGgoAAAANSUhEUgAAAgAAAAIA',
}

/** Shortens long lists and hides secrets. */
function shown(value: unknown): unknown {
  if (Array.isArray(value)) return value.slice(0, mostItems).map(shown)
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(Object.entries(value).map(([name, inner]) => [name, hidden[name] ?? shown(inner)]))
}

/** Replaces an example only if the answer has another shape, so that a review shows only real changes. */
function keep(of: Record<string, unknown>, status: number, value: unknown): void {
  if (JSON.stringify(shapeOf(of[status])) !== JSON.stringify(shapeOf(value))) of[status] = value
}

function shapeOf(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(shapeOf)
  if (typeof value !== 'object' || value === null) return value === undefined ? 'nothing' : 'value'
  return Object.fromEntries(Object.entries(value).map(([name, inner]) => [name, shapeOf(inner)]))
}

/** The first three lines, with their line ends, so that a shorter file stays unchanged byte by byte. */
const firstLines = (text: string): string =>
  text
    .split(/(?<=\n)/)
    .slice(0, 3)
    .join('')

function record(examples: Examples, { operationId, status, request, answer }: Exchange): void {
  const of = examples[operationId] ?? {}
  examples[operationId] = of
  if (request !== undefined) of.request = typeof request === 'string' ? firstLines(request) : request
  const type = answer.headers.get('content-type')?.split(';', 1)[0]
  if (answer.text === '') return
  if (type === 'application/json') keep(of, status, shown(answer.body))
  if (type === 'text/csv') keep(of, status, firstLines(answer.text))
  if (type === 'application/x-ndjson') keep(of, status, JSON.parse(answer.text.trim().split('\n').at(-1) ?? ''))
}

/** Returns the code and the message of an error; null if the answer is not an error or has no message. */
function errorExampleOf({ status, answer: { body, headers } }: Exchange): ErrorExample | null {
  const message = body?.message ?? body?.text
  return status >= 400 && message ? [body.code ?? headers.get('perkline-error-code') ?? 'invalid', message] : null
}

function recordError(errors: ErrorExamples, exchange: Exchange): void {
  const { operationId, status } = exchange
  const example = errorExampleOf(exchange)
  if (example) errors[operationId] = { [status]: example, ...errors[operationId] }
}

const sorted = <Value>(of: Record<string, Value>, isKnown: (name: string) => boolean): Record<string, Value> =>
  Object.fromEntries(
    Object.entries(of)
      .filter(([name]) => isKnown(name))
      .sort(([one], [other]) => (one < other ? -1 : 1)),
  )

const write = (url: URL, value: object): void => writeFileSync(url, `${JSON.stringify(value, null, 2)}\n`)

if (import.meta.main) {
  const kept = process.argv.includes('--all') ? {} : readExamples()
  const errors: ErrorExamples = {}
  const addresses = addressesOf((await readDocuments()).values())
  for (const exchange of await walkExamples(addresses)) {
    if (exchange.status < 400) record(kept, exchange)
    recordError(errors, exchange)
  }
  write(
    examplesUrl,
    sorted(kept, name => addresses.has(name)),
  )
  write(
    errorExamplesUrl,
    sorted(errors, () => true),
  )
}
