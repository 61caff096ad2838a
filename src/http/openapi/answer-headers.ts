/** Headers that every answer of an API carries, as the documents declare them. */
import { errorCodes } from '../../errors.ts'
import { type Api, apiOf, carriesCode, errorCodeHeader } from '../errors.ts'

export type Header = { $ref: string } | { description: string; required?: boolean; schema: object }
export type Answer = { headers?: Record<string, Header>; content?: Record<string, unknown> }
type Documented = {
  paths: Record<string, Record<string, { responses: Record<string, Answer> }>>
  components: { headers?: Record<string, Header> }
}

/** The headers by their names in the components of a document. */
const components = {
  RequestId: {
    description:
      'The id of this request; quote it when you contact support. It is the caller’s own `x-request-id` where that is 1 to 128 of ' +
      '`A-Za-z0-9._-`',
    required: true,
    schema: { type: 'string', examples: ['0f9c6a52-8d1b-4c7e-9a40-5d2c8e1f7b63'] },
  },
  ErrorCode: {
    description: 'The reason, for programs. A code never changes its meaning; new codes may be added',
    schema: { type: 'string', enum: [...errorCodes], examples: ['invalid'] },
  },
  Challenge: {
    description: '`Bearer` when a token is missing; with `error="invalid_token"` when it is wrong or has expired',
    required: true,
    schema: { type: 'string', examples: ['Bearer error="invalid_token"'] },
  },
  CacheControl: {
    description: 'Always `no-store`: browsers and proxies must not keep this answer',
    required: true,
    schema: { type: 'string', examples: ['no-store'] },
  },
  Vary: {
    description: '`accept-encoding` when the answer has at least 16 KiB, because it may be compressed then',
    schema: { type: 'string', examples: ['accept-encoding'] },
  },
  ContentEncoding: {
    description: 'Set when `Accept-Encoding` allows it and the answer has at least 16 KiB: zstd, gzip or br',
    schema: { type: 'string', examples: ['gzip'] },
  },
  ContentDisposition: {
    description: 'Tells browsers to save the answer, and under which name',
    required: true,
    schema: { type: 'string', examples: ['attachment; filename="report.csv"; filename*=UTF-8\'\'report.csv'] },
  },
  RetryAfter: {
    description: 'Seconds to wait before you try again',
    schema: { type: 'integer', examples: [2] },
  },
  RateLimit: {
    description:
      'What the bank has left: `r` requests at once; after `t` seconds the full burst is available again. Absent where ' +
      'the platform sets no limit.',
    schema: { type: 'string', examples: ['"bank";r=199;t=1'] },
  },
  RateLimitPolicy: {
    description:
      'The bank’s limit: bursts of `q` requests, refilled within `w` seconds. Absent where there is no limit.',
    schema: { type: 'string', examples: ['"bank";q=200;w=2'] },
  },
  AccountRateLimit: {
    description:
      'What the account has left, or the address where a request needs no login: `r` requests at once; after `t` seconds the full ' +
      'burst is available again. Absent where the platform sets no limit, and when the request was refused before it was counted.',
    schema: { type: 'string', examples: ['"account";r=99;t=1'] },
  },
  AccountRateLimitPolicy: {
    description:
      'The limit of the account or the address: bursts of `q` requests, refilled within `w` seconds. Absent where there is no ' +
      'limit, and when the request was refused before it was counted.',
    schema: { type: 'string', examples: ['"account";q=100;w=2'] },
  },
} as const satisfies Record<string, Header>
type Component = keyof typeof components

const always = { 'x-request-id': 'RequestId', 'cache-control': 'CacheControl' } as const
const refusedForNow = { 'Retry-After': 'RetryAfter' } as const
const compressed = { 'content-encoding': 'ContentEncoding', vary: 'Vary' } as const
const coded = { [errorCodeHeader]: 'ErrorCode' } as const

const byAccount = { RateLimit: 'AccountRateLimit', 'RateLimit-Policy': 'AccountRateLimitPolicy' } as const
/**
 * The rate limit headers in the answers of each API. The API `token` is missing, because requests for tokens are not
 * limited in this way.
 */
const limitedOf: Partial<Record<Api, Record<string, Component>>> = {
  esim: { RateLimit: 'RateLimit', 'RateLimit-Policy': 'RateLimitPolicy' },
  cashback: byAccount,
  partner: byAccount,
  portal: byAccount,
  operator: byAccount,
}

const isFile = ({ content = {} }: Answer): boolean => 'text/csv' in content || 'application/pdf' in content

function headersOf(path: string, code: string, answer: Answer): Record<string, Component> {
  const isSuccess = Number(code) < 300
  return {
    ...always,
    ...(!isSuccess && Number(code) >= 400 && !carriesCode(apiOf(path)) && coded),
    ...(code === '401' && { 'www-authenticate': 'Challenge' as const }),
    ...(code === '200' && 'application/json' in (answer.content ?? {}) && compressed),
    ...(isSuccess && isFile(answer) && { 'content-disposition': 'ContentDisposition' as const }),
    ...((code === '429' || code === '503') && refusedForNow),
    ...limitedOf[apiOf(path)],
  }
}

/** Adds these headers to every answer in a document, besides the answer's own. */
export function declareHeaders({ paths, components: declared }: Documented): void {
  const used = new Map<Component, Header>()
  for (const [path, operations] of Object.entries(paths))
    for (const { responses } of Object.values(operations))
      for (const [code, answer] of Object.entries(responses))
        for (const [name, component] of Object.entries(headersOf(path, code, answer))) {
          // If the answer declares the header itself, keep that declaration, because it says more.
          if (answer.headers?.[name]) continue
          used.set(component, components[component])
          answer.headers = { ...answer.headers, [name]: { $ref: `#/components/headers/${component}` } }
        }
  declared.headers = Object.fromEntries(used)
}
