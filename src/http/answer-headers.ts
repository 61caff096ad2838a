/** The headers that answers carry whatever their operation, as the documents declare them. */
import { errorCodes } from '../errors.ts'
import { apiOf, errorCodeHeader } from './errors.ts'

type Answer = { headers?: Record<string, unknown> }
export type Documented = {
  paths: Record<string, Record<string, { responses: Record<string, Answer> }>>
  components: { headers?: Record<string, unknown> }
}

/** By their names among the components of a document. */
const components = {
  RequestId: {
    description:
      'The id of this request, for questions about it: the caller’s own, where it is 1 to 128 of `A-Za-z0-9._-`',
    required: true,
    schema: { type: 'string', examples: ['0f9c6a52-8d1b-4c7e-9a40-5d2c8e1f7b63'] },
  },
  ErrorCode: {
    description: 'The reason for programs. Its meaning never changes; new codes may be added',
    schema: { type: 'string', enum: [...errorCodes], examples: ['invalid'] },
  },
  RetryAfter: {
    description: 'Seconds to wait before trying again',
    schema: { type: 'integer', examples: [2] },
  },
  RateLimit: {
    description:
      'What is left to the bank: `r` requests may follow at once, and in `t` seconds the full burst is there again. Absent where the ' +
      'platform sets no limit.',
    schema: { type: 'string', examples: ['"bank";r=199;t=1'] },
  },
  RateLimitPolicy: {
    description:
      'The limit of a bank: `q` requests at once, and as many again within `w` seconds. Absent where there is none.',
    schema: { type: 'string', examples: ['"bank";q=200;w=2'] },
  },
  AccountLimit: {
    description:
      'What is left to the account: `r` requests may follow at once, and in `t` seconds the full burst is there again. Absent where ' +
      'the platform sets no limit, and from answers to requests that are refused before they count.',
    schema: { type: 'string', examples: ['"account";r=99;t=1'] },
  },
  AccountLimitPolicy: {
    description:
      'The limit of an account: `q` requests at once, and as many again within `w` seconds. Absent where `RateLimit` is.',
    schema: { type: 'string', examples: ['"account";q=100;w=2'] },
  },
} as const
type Component = keyof typeof components

const always = { 'x-request-id': 'RequestId' } as const
const refusedForNow = { 'Retry-After': 'RetryAfter' } as const
const coded = { [errorCodeHeader]: 'ErrorCode' } as const
const limited = { RateLimit: 'RateLimit', 'RateLimit-Policy': 'RateLimitPolicy' } as const

/** The portal's and the operator's error bodies have the code in them. */
const carriesCode = (path: string): boolean => !['portal', 'operator'].includes(apiOf(path))

const accountLimited = { RateLimit: 'AccountLimit', 'RateLimit-Policy': 'AccountLimitPolicy' } as const
/** A request counts once it is known who calls and that it may. The document of the contract speaks of the limit at 429 only. */
function tellsAccountLimit(path: string, code: string): boolean {
  const api = apiOf(path)
  if (api === 'cashback') return code === '429'
  return ['portal', 'operator'].includes(api) && code !== '401' && code !== '403'
}

const headersOf = (path: string, code: string): Record<string, Component> => ({
  ...always,
  ...(Number(code) >= 400 && carriesCode(path) && coded),
  ...((code === '429' || code === '503') && refusedForNow),
  ...(apiOf(path) === 'esim' && limited),
  ...(tellsAccountLimit(path, code) && accountLimited),
})

/** Adds them to every answer of a document, beside those that the answer declares itself. */
export function declareHeaders({ paths, components: declared }: Documented): void {
  const used = new Map<Component, object>()
  for (const [path, operations] of Object.entries(paths))
    for (const { responses } of Object.values(operations))
      for (const [code, answer] of Object.entries(responses))
        for (const [name, component] of Object.entries(headersOf(path, code))) {
          used.set(component, components[component])
          answer.headers = { ...answer.headers, [name]: { $ref: `#/components/headers/${component}` } }
        }
  declared.headers = Object.fromEntries(used)
}
