/**
 * The interactive documentation of one API: the OpenAPI 3.1 document, made from the schemas that validate and
 * serialise, and the page that shows it.
 */
import fastifySwagger, { type FastifyDynamicSwaggerOptions } from '@fastify/swagger'
import fastifySwaggerUi, { type FastifySwaggerUiOptions } from '@fastify/swagger-ui'
import type { FastifyInstance, RouteOptions } from 'fastify'
import type { Static, TSchema } from 'typebox'
import Type from 'typebox'
import { sizeText } from '../../text/size.ts'
import {
  type Api,
  apiOf,
  CashbackError,
  EsimError,
  OperatorError,
  PartnerError,
  PortalError,
  TokenError,
} from '../errors.ts'
import { KeyHeader, keyErrors, keyHeader, replayedHeader } from '../idempotency-key.ts'
import { finishDocument, type OpenApiDocument } from './document.ts'
import { createDocumentAnswer } from './document-answer.ts'

export type Document = {
  title: string
  description: string
  /** The address of the page, relative to the prefix of the API. */
  page: string
  tags: { name: string; description: string }[]
  /** Whether any operation needs a token. */
  secured: boolean
  /** How to get a token; default: as systems and people of partners get it. */
  tokenDescription?: string
  /** Schemas that get a name in the document; each has an `$id`. */
  components: TSchema[]
  /** Requests that the platform sends by itself, in the form of OpenAPI's `webhooks`; default: none. */
  webhooks?: Record<string, object>
  /** Parameters that `webhooks` refers to. */
  parameters?: Record<string, { name: string; in: string }>
}

/** The addresses of all documents, and of the operation that returns a token. */
const links =
  'Documentation: [tokens and campaigns](/swagger), [eSIM sales](/esim/v1/swagger), ' +
  '[events, webhooks, orders and statements](/partner/v1/swagger). ' +
  'Get a token with [POST /getToken/auth](/swagger#/Tokens/issueToken).'

const defaultToken =
  'The `access_token` of `POST /getToken/auth` (systems) or of `POST /auth/login` (people), valid for as many seconds as `expire` says. ' +
  'Operations on people, credentials, sessions, second factors and the security policy take only a person’s.'
const bearerToken = (description = defaultToken) =>
  ({ type: 'http', scheme: 'bearer', bearerFormat: 'JWT', description }) as const

const logo = `<svg xmlns="http://www.w3.org/2000/svg" width="160" height="40" viewBox="0 0 160 40">
<path d="M6 30 16 10 26 30" fill="none" stroke="#7ee0a8" stroke-width="4" stroke-linejoin="round" stroke-linecap="round"/>
<text x="36" y="28" font-family="sans-serif" font-size="22" font-weight="700" fill="#ffffff">Perkline</text></svg>`

/**
 * Adds the documentation of an API to a plugin. Call it before the routes are registered, because it documents only
 * later routes.
 */
export async function document(app: FastifyInstance, spec: Document): Promise<void> {
  for (const component of spec.components) app.addSchema(component)
  const withOptionalBody = new Set<unknown>()
  const { bodyLimit = 0 } = app.initialConfig
  await app.register(fastifySwagger, {
    openapi: describeApi(spec),
    refResolver: { buildLocalReference: json => String(json.$id) },
    // The library documents every body as required, so optional bodies are corrected here.
    transform: ({ schema, url, route }) => {
      if (route.config?.bodyOptional) withOptionalBody.add(schema.operationId)
      const response = { ...bodyRefusals(route, bodyLimit), ...(schema.response as object | undefined) }
      return { schema: withKey({ ...schema, response }, route), url }
    },
    transformObject: made => {
      if (!('openapiObject' in made)) return made.swaggerObject
      finishDocument(made.openapiObject as unknown as OpenApiDocument, id => withOptionalBody.has(id))
      return made.openapiObject
    },
  })
  await app.register(fastifySwaggerUi, {
    ...pageOptions(spec, app.prefix),
    uiHooks: { preHandler: createDocumentAnswer(app) },
  })
}

function describeApi(document: Document): NonNullable<FastifyDynamicSwaggerOptions['openapi']> {
  return {
    openapi: '3.1.0',
    info: {
      title: document.title,
      description: `${document.description}\n\n${links}`,
      version: '1.0.0',
      contact: { name: 'The platform’s operator' },
    },
    // Requests go to the address at which the page was opened.
    servers: [{ url: '/', description: 'This environment' }],
    tags: document.tags,
    ...(document.webhooks && { webhooks: document.webhooks }),
    ...(document.secured && {
      components: {
        securitySchemes: { bearerToken: bearerToken(document.tokenDescription) },
        ...(document.parameters && { parameters: document.parameters }),
      },
    }),
  }
}

const pageOptions = (document: Document, prefix: string): FastifySwaggerUiOptions => ({
  routePrefix: document.page,
  // The page of each API loads its own copy of the page's files. The files of another API's page may be missing,
  // because that API may run in another process.
  indexPrefix: '.',
  uiConfig: { docExpansion: 'list', persistAuthorization: false },
  // The page shows only one document, so the field for opening another document is hidden.
  theme: {
    title: document.title,
    css: [
      { filename: 'perkline.css', content: '.swagger-ui .topbar .download-url-wrapper { display: none !important }' },
    ],
  },
  logo: { type: 'image/svg+xml', content: Buffer.from(logo), href: `${prefix}${document.page}` },
  // The page may load files only from its own address. Inline styles are allowed, because the page needs them.
  staticCSP: "default-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; frame-ancestors 'none'",
})

type DocumentedSchema = { headers?: unknown; response: Record<string, object> }

/** Documents the header `Idempotency-Key` for operations that accept it. */
function withKey<Schema extends DocumentedSchema>(schema: Schema, { url, config }: RouteOptions): Schema {
  if (!config?.idempotent) return schema
  const { properties = {}, ...headers } = (schema.headers ?? { type: 'object' }) as { properties?: object }
  const withReplay = ([code, answer]: [string, object]) =>
    code.startsWith('2')
      ? [code, { ...answer, headers: { ...Object(answer).headers, [replayedHeader]: replayed } }]
      : [code, answer]
  return {
    ...schema,
    headers: { ...headers, properties: { ...properties, [keyHeader]: KeyHeader } },
    response: {
      ...Object.fromEntries(Object.entries(schema.response).map(withReplay)),
      ...keyAnswers(errorOf[apiOf(url)], schema.response),
    },
  }
}

/**
 * The error answers that the header `Idempotency-Key` causes. If the operation has its own reason for the same status,
 * that reason comes first.
 */
function keyAnswers(error: TSchema, own: DocumentedSchema['response']) {
  const answers = Object.entries(errorAnswers(error, keyErrors)).map(([code, answer]) => {
    const reason: string | undefined = Object(own[code]).description
    const description = reason === undefined ? answer.description : `${reason}. Or: ${answer.description}`
    return [code, { ...answer, description, ...(code === '409' && { headers: { 'Retry-After': retryAfter } }) }]
  })
  return Object.fromEntries(answers)
}

const retryAfter = {
  type: 'integer',
  description: 'Seconds to wait. Only while a request with the same `Idempotency-Key` is running',
  examples: [1],
}

const replayed = {
  type: 'string',
  enum: ['true'],
  description: 'The answer is the stored one of an earlier request with the same key',
}

/** Returns a reference to a named schema. The reference has the same TypeScript type as the schema. */
export function ref<Schema extends TSchema>(schema: Schema) {
  return Type.Unsafe<Static<Schema>>({ $ref: `${(schema as { $id?: string }).$id}#` })
}

/** Gives a schema the name that the documents use for it. Call it once for each schema. */
export const named = <Schema extends TSchema>(title: string, schema: Schema): Schema => ({ ...schema, title })

/** A value or null, in a form that both the validator and tools for OpenAPI 3.1 understand. */
export function nullable<Schema extends TSchema>(schema: Schema) {
  const { type, ...rest } = schema as unknown as { type: string }
  return Type.Unsafe<Static<Schema> | null>({ ...rest, type: [type, 'null'] })
}

/** One of these texts, or null. */
export const nullableEnum = <const Value extends string>(values: readonly Value[], options: object) =>
  Type.Unsafe<Value | null>({ type: ['string', 'null'], enum: [...values, null], ...options })

/**
 * The content of an answer of many lines, each a JSON object. All lines together are not JSON, so the answer is documented
 * as a text, and `contentSchema` describes its lines.
 *
 * @param line the schema of a line; it has a `title`
 */
export const lineContent = (line: TSchema) => ({
  'application/x-ndjson': {
    schema: Type.Unsafe<NodeJS.ReadableStream>({
      type: 'string',
      contentMediaType: 'application/x-ndjson',
      contentSchema: { type: 'array', items: line },
      description: 'A JSON object in each line. `contentSchema` describes the lines as a list',
    }),
  },
})

/** Declares error answers with the error schema of an API. @param causes for each status code, the cause in words */
export function errorAnswers(schema: TSchema, causes: Record<number, string>) {
  return Object.fromEntries(
    Object.entries(causes).map(([code, description]) => [
      code,
      { description, content: { 'application/json': { schema: ref(schema) } } },
    ]),
  )
}

const errorOf: Record<Api, TSchema> = {
  token: TokenError,
  cashback: CashbackError,
  esim: EsimError,
  portal: PortalError,
  operator: OperatorError,
  partner: PartnerError,
}

/**
 * The error answers for a refused body. All operations except GET and HEAD have them, because a body is checked even
 * when the operation needs none. A file that is read while it arrives has a size limit of its own, or none.
 *
 * @param defaultLimit the maximum size of a body in bytes, for a route that sets none
 */
function bodyRefusals({ url, method, bodyLimit, config }: RouteOptions, defaultLimit: number) {
  if (method === 'GET' || method === 'HEAD') return {}
  const bodyType = config?.bodyType
  return errorAnswers(errorOf[apiOf(url)], {
    ...(bodyType === undefined && { 413: `The body is larger than ${sizeText(bodyLimit ?? defaultLimit)}` }),
    408: 'The body took too long to arrive',
    415: `The body is not ${bodyType ?? 'application/json'}, or has a Content-Encoding`,
  })
}

const header = (description: string, example: string) => ({ type: 'string', description, examples: [example] })

/** Headers that answers declare. */
export const locationHeader = (example: string) => ({ location: header('The path of the new object', example) })
export const setCookieHeader = (description: string, example: string) => ({
  'set-cookie': header(description, example),
})

export const etagHeader = header('The version of this answer', '"7"')

/** When an operation with `If-Match` answers 412. @param subject what has versions, such as `campaign` */
export const staleVersion = (subject: string): string =>
  `The ${subject} has changed since it was read, or \`If-Match\` is not the quoted tag of a version`

/** The request header in which a caller names the version that it already has. */
export const IfNoneMatch = Type.Object({
  'if-none-match': Type.Optional(
    Type.String({
      maxLength: 4096,
      description: 'The `ETag` of your last answer. If nothing has changed since, the answer is 304',
      examples: ['"7"'],
    }),
  ),
})
