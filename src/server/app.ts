/**
 * The HTTP side of the platform: makes a Fastify app, registers each API by name, and has the rules for every request:
 * ids, bodies, errors, limits of time and size.
 */
import { randomUUID } from 'node:crypto'
import type { Socket } from 'node:net'
import fastify, { type FastifyBaseLogger, type FastifyInstance, type FastifyRequest, LogController } from 'fastify'
import { askForFreshFactor } from '../access/request/callers.ts'
import { hasSessionCookie } from '../access/request/session-cookie.ts'
import { type AccessRoutesDeps, loginRoutes, Token, tokenRoutes } from '../access/routes.ts'
import { Challenge, Session } from '../access/session-schemas.ts'
import { type AdminRoutesDeps, adminRoutes } from '../admin/routes.ts'
import { type PublicAuditKey, registerAuditKeys } from '../audit-log/keys-routes.ts'
import { Campaign } from '../campaigns/for-bank/list-schemas.ts'
import { bankRoutes } from '../campaigns/for-bank/routes.ts'
import { Retailer } from '../campaigns/for-bank/schemas.ts'
import { merchantRoutes } from '../campaigns/for-merchant/routes.ts'
import { merchantComponents } from '../campaigns/for-merchant/schemas.ts'
import type { CampaignRoutesDeps } from '../campaigns/request/deps.ts'
import { OperationResult } from '../campaigns/schemas.ts'
import type { Service } from '../config.ts'
import { eachOnce } from '../error-rules.ts'
import { DomainError, InvalidTokenError } from '../errors.ts'
import { type EsimRoutesDeps, esimRoutes } from '../esim/orders/routes.ts'
import { compressAnswers } from '../http/answer/compression.ts'
import { defaultHeaders, sendDefaultHeaders } from '../http/answer/default-headers.ts'
import { buildSerializer } from '../http/answer/serializer.ts'
import { watchStreams } from '../http/answer/streams.ts'
import { keepClientAddresses } from '../http/client-addresses.ts'
import { endStalledConnections, keptMs, limitAnonymousConnections } from '../http/connections.ts'
import {
  type Api,
  answerError,
  apiOf,
  CashbackError,
  EncodedBodyError,
  PortalError,
  pathOf,
  TokenError,
} from '../http/errors.ts'
import { isText } from '../http/input/json.ts'
import { bodyWaitMs, readBodies } from '../http/input/large-bodies.ts'
import { endLateBody, refuseLateBody } from '../http/input/late-body.ts'
import { answerExpectations, messageError } from '../http/input/message-rules.ts'
import { hasBody, takeAbsentBodies, takeEmptyBodies } from '../http/input/optional-body.ts'
import { handleInTurn } from '../http/input/pipelining.ts'
import { limitSmallChunks } from '../http/input/small-chunks.ts'
import { createUnreadableAnswer, noteRequests, tunnelError } from '../http/input/unreadable.ts'
import { validatorCompiler } from '../http/input/validation.ts'
import { limitAccounts } from '../http/limits/account.ts'
import { type RateLimiter, rateLimitHeaders } from '../http/limits/rate-limit.ts'
import { document } from '../http/openapi/operations.ts'
import { lowerPathIds } from '../http/path-ids.ts'
import { unreadableParameters } from '../http/query-text.ts'
import { registerRoot } from '../http/root.ts'
import { refuseUndeclared } from '../http/undeclared.ts'
import { answerUnknown } from '../http/unknown.ts'
import { warnOfUntrustedProxies } from '../http/untrusted-proxies.ts'
import { takeKeys } from '../idempotency/request/once.ts'
import { type Logger, RequestLog } from '../log.ts'
import type { PeoplePortalDeps } from '../people/routes.ts'
import { reconciliationRoutes } from '../reconciliation/routes.ts'
import { type SandboxRoutesDeps, sandboxRoutes } from '../sandbox/routes.ts'
import { segmentRoutes } from '../segments/routes.ts'
import { findSalesDays } from '../statements/sales-days.ts'
import { portalFileRoutes } from '../web/routes.ts'
import { campaignPortalRoutes } from './campaign-people-routes.ts'
import { type Metrics, measureRequests } from './metrics.ts'
import { type PartnerRoutesDeps, partnerRoutes } from './partner-routes.ts'
import { placesOf } from './places.ts'
import { portalRoutes } from './portal-routes.ts'

/**
 * Which services an app serves. With ADMIN_PORT there are two apps: one for partners, and one for the operator's staff.
 * Both serve the portal and its login.
 */
type Door = 'all' | 'partners' | 'staff'

/** The services that each app leaves out. */
const closedAt: Record<Door, readonly Service[]> = { all: [], partners: ['admin'], staff: ['cashback', 'esim'] }

export type AppDeps = {
  door: Door
  /** In live mode the app logs a warning when it ignores an X-Forwarded-For. */
  isLive: boolean
  services: readonly Service[]
  logger: Logger
  metrics: Metrics
  trustedProxies: string[]
  publicUrl: string
  /** The public keys of the audit log. */
  auditKeys(): Promise<PublicAuditKey[]>
  access: AccessRoutesDeps
  people: PeoplePortalDeps['people'] & { factors: PeoplePortalDeps['factors'] }
  campaigns: CampaignRoutesDeps
  esim: EsimRoutesDeps
  partner: PartnerRoutesDeps
  admin: AdminRoutesDeps
  /** Limits the requests of an account to all APIs except eSIM; null: switched off. */
  accountLimiter: RateLimiter | null
  /** The folder of the portal that `npm run build` makes. */
  portalFolder: string
  /** null in live mode: the paths of the sandbox then do not exist. */
  sandbox: SandboxRoutesDeps | null
  /** Whether the process is about to stop. Each connection is then closed after its next answer. */
  isStopping(): boolean
  /** Why this process cannot take requests now; null when it can. */
  notReady(): Promise<string | null>
}

/**
 * Clients that send headers or a small body more slowly than this are disconnected (contract/reliability.md, "Facts").
 * Uploads of files have a minimum rate instead.
 */
const headersTimeoutMs = 5_000
const defaultBodyTimeoutMs = 8_000
const bodyLimitBytes = 64 * 1024
/** The maximum length of a request's address. It is the same as Node's limit for all headers together. */
const maxAddressLength = 16 * 1024
/** The maximum number of malformed query parameters that one error names. */
const maxNamed = 100

declare module 'fastify' {
  interface FastifyContextConfig {
    /** The body is a file of any length, so it may take long. */
    longUpload?: boolean
    /** The time within which a body must arrive on a route that accepts large bodies. */
    bodyTimeoutMs?: number
    /** The required type of body, as the message of a 415 names it. */
    bodyType?: string
    /** The route reads no query, so the query may be any text. */
    ignoresQuery?: boolean
  }
}

type LimitHeaders = ReturnType<typeof announceRateLimits>

export async function createApp(deps: AppDeps): Promise<FastifyInstance> {
  const limitHeaders = announceRateLimits(deps)
  const app = createServer(deps, limitHeaders)
  checkMessages(app, deps, limitHeaders)
  limitConnections(app, deps)
  checkInput(app, deps)
  watchStreams(app)
  compressAnswers(app)
  registerHealth(app, deps)
  registerAuditKeys(app, deps)
  await registerApis(app, deps)
  return app
}

/**
 * Creates the app with Node's and Fastify's settings. Also answers requests that reach no hook, such as malformed ones.
 */
function createServer(deps: AppDeps, limitHeaders: LimitHeaders): FastifyInstance {
  const headers = defaultHeaders(deps.publicUrl)
  const answerUnreadable = createUnreadableAnswer(headers)
  const app: FastifyInstance = fastify({
    loggerInstance: deps.logger as FastifyBaseLogger,
    logController: new LogController({ disableRequestLogging: true, requestIdLogLabel: 'requestId' }),
    childLoggerFactory: (logger, bindings) => new RequestLog(logger as Logger, bindings) as FastifyBaseLogger,
    genReqId: request => givenRequestId(request.headers['x-request-id']) ?? randomUUID(),
    requestIdHeader: false,
    trustProxy: deps.trustedProxies.length > 0 ? deps.trustedProxies : false,
    bodyLimit: bodyLimitBytes,
    schemaController: { compilersFactory: { buildSerializer } },
    // A path parameter may be as long as a whole address. So an id that is too long reaches the rule for that id and
    // gets its error.
    routerOptions: { maxParamLength: maxAddressLength },
    // Switches off Node's limit for a whole request, which would cut off long uploads. `limitBodyTime` replaces it.
    requestTimeout: 0,
    keepAliveTimeout: keptMs,
    return503OnClosing: false,
    http: {
      headersTimeout: headersTimeoutMs,
      connectionsCheckingInterval: 1_000,
      // Requests without the header Host are refused by our own code, because Node's answer to them has no body.
      requireHostHeader: false,
      // With this option, Node.js makes no body stream for a request without a body. Reading that stream to its end
      // took a tenth of the time of a short answer.
      optimizeEmptyRequests: true,
    },
    clientErrorHandler: answerUnreadable,
    // Answers a request whose address cannot be decoded, because such a request reaches no hook.
    frameworkErrors: (error, request, reply) => {
      reply.headers(headers).header('x-request-id', request.id).headers(limitHeaders(request))
      answerError(error, request, reply)
      endLateBody(request)
    },
  })
  noteRequests(app.server)
  limitSmallChunks(app.server)
  handleInTurn(app)
  // Node.js does not answer a CONNECT request itself, so it is answered here.
  app.server.on('connect', (_request, socket) => answerUnreadable(tunnelError, socket as Socket))
  return app
}

/**
 * Registers the rules that apply to every request before its caller is known: ids, headers, log, metrics, and HTTP
 * itself.
 */
function checkMessages(app: FastifyInstance, deps: AppDeps, limitHeaders: LimitHeaders): void {
  app.setValidatorCompiler(validatorCompiler)
  app.decorateRequest('caller', null)
  app.decorateRequest('shownAs', null)
  app.decorateRequest('wantsErrorRules', function () {
    return hasSessionCookie(this)
  })
  app.setErrorHandler(answerError)
  lowerPathIds(app)
  refuseUndeclared(app)
  limitBodyTime(app)
  takeAbsentBodies(app)
  measureRequests(app, deps.metrics)
  sendDefaultHeaders(app, deps.publicUrl)
  logRequests(app, deps.logger)
  app.addHook('onRequest', (request, reply, done) => {
    reply.header('x-request-id', request.id).headers(limitHeaders(request))
    done(messageError(request))
  })
  if (deps.isLive) warnOfUntrustedProxies(app, deps.logger)
  answerUnknown(app, maxAddressLength)
}

function limitConnections(app: FastifyInstance, deps: AppDeps): void {
  keepClientAddresses(app.server)
  // Both apps together give at most three quarters of the file descriptors to anonymous connections. The rest is left
  // for known callers, the database and files.
  const endSilent = limitAnonymousConnections(app, deps.door === 'staff' ? 1 / 4 : 1 / 2)
  endConnectionsOnStop(app, deps.isStopping, endSilent)
  endStalledConnections(app.server)
}

/** Limits and checks that run after onRequest, where the caller is authenticated. */
function checkInput(app: FastifyInstance, deps: AppDeps): void {
  if (deps.door === 'partners') refuseStaff(app)
  if (deps.accountLimiter) limitAccounts(app, deps.accountLimiter)
  askForFreshFactor(app, deps.campaigns)
  takeKeys(app, deps.campaigns.answers)
  app.addHook('preParsing', (request, _reply, _payload, done) => {
    const unreadable = request.routeOptions.config.ignoresQuery ? [] : unreadableParameters(request.raw.url)
    done(unreadable.length === 0 ? null : new DomainError('invalid', eachOnce(unreadable.slice(0, maxNamed))))
  })
  app.addHook('preParsing', ({ headers }, _reply, _payload, done) => {
    const { 'content-encoding': coding = 'identity' } = headers
    done(hasBody(headers) && coding.toLowerCase() !== 'identity' ? new EncodedBodyError() : null)
  })
  readBodies(app)
  // A path parameter that PostgreSQL cannot store identifies no object. So the answer is 404, without a query.
  app.addHook('preHandler', (request, _reply, done) => {
    const isKeepable = Object.values(request.params as Record<string, string>).every(isText)
    done(isKeepable ? undefined : new DomainError('not-found', 'There is nothing at this path'))
  })
  takeEmptyBodies(app)
  answerExpectations(app, bodyLimitBytes)
}

/** Refuses the tokens of the platform's own staff, which are valid only at ADMIN_PORT. */
function refuseStaff(app: FastifyInstance): void {
  app.addHook('preParsing', ({ caller }, _reply, _payload, done) => {
    const isStaff = caller?.type === 'platform' && caller.userType === 'portal_user'
    done(isStaff ? new InvalidTokenError() : null)
  })
}

/**
 * Registers the APIs of the services that this app serves. The Partner API, the operator's interface and `/portal`
 * register their route modules in their own files (`partner-routes.ts`, `admin/routes.ts`, `portal-routes.ts`).
 */
async function registerApis(app: FastifyInstance, deps: AppDeps): Promise<void> {
  const runs = (service: Service) => deps.services.includes(service) && !closedAt[deps.door].includes(service)
  registerRoot(app, placesOf(runs))
  if (runs('auth') || runs('cashback') || runs('portal')) await app.register(cashbackApi, { ...deps, runs })
  else if (deps.sandbox) await app.register(sandboxRoutes, deps.sandbox)
  if (runs('portal')) await app.register(portalFileRoutes, { folder: deps.portalFolder })
  if (runs('esim')) await app.register(esimRoutes, { ...deps.esim, prefix: '/esim/v1' })
  if (runs('partner')) await app.register(partnerRoutes, { ...deps.partner, prefix: '/partner/v1' })
  if (runs('admin')) await app.register(adminRoutes, { ...deps.admin, prefix: '/admin' })
}

/** Registers the operations that the page at `/swagger` documents. */
async function cashbackApi(app: FastifyInstance, deps: AppDeps & { runs(service: Service): boolean }): Promise<void> {
  await document(app, {
    title: 'Perkline',
    description:
      'How banks and merchants run cashback campaigns together: create and invite, confirm or reject, launch, and after the ' +
      'period reconcile and settle. ' +
      (deps.sandbox
        ? 'In the sandbox you can move the clock and take a campaign through its period in seconds. '
        : '') +
      'A token serves every API of the platform.',
    page: '/swagger',
    tags: [
      { name: 'Tokens', description: 'How a bank, a merchant or a portal user gets access' },
      { name: 'Banks', description: 'What a bank does with campaigns and merchants' },
      { name: 'Merchants', description: 'What a merchant does with its campaigns' },
      {
        name: 'People',
        description: 'How people manage their accounts: invitations, second factors, sessions, policy',
      },
      { name: 'Portal', description: 'Segments, own campaigns of banks, history' },
      { name: 'Reconciliation', description: 'Reports, settlement and payment after the period' },
      ...(deps.sandbox ? [{ name: 'Sandbox', description: 'For trying things out; absent in live mode' }] : []),
    ],
    secured: true,
    components: [
      CashbackError,
      PortalError,
      TokenError,
      Token,
      OperationResult,
      Campaign,
      Retailer,
      Session,
      Challenge,
      ...merchantComponents,
    ],
  })
  if (deps.runs('auth')) {
    if (deps.door !== 'staff') await app.register(tokenRoutes, deps.access)
    await app.register(loginRoutes, deps.access)
  }
  if (deps.runs('cashback')) {
    await app.register(bankRoutes, deps.campaigns)
    await app.register(merchantRoutes, deps.campaigns)
  }
  if (deps.runs('portal')) {
    const { catalogue, availability } = deps.esim
    const portal = {
      ...deps.campaigns,
      logins: deps.access.logins,
      factors: deps.people.factors,
      people: deps.people,
      catalogue,
      availability,
      sealing: deps.admin.sealing,
      findSalesDays,
    }
    await app.register(portalRoutes, { ...portal, prefix: '/portal' })
    for (const routes of [campaignPortalRoutes, reconciliationRoutes, segmentRoutes])
      await app.register(routes, { ...deps.campaigns, prefix: '/portal' })
  }
  if (deps.sandbox) await app.register(sandboxRoutes, deps.sandbox)
}

const givenRequestId = (header: string | string[] | undefined): string | null =>
  typeof header === 'string' && /^[A-Za-z0-9._-]{1,128}$/.test(header) ? header : null

/**
 * Limits the time in which a body must arrive. After that the request gets 408 and the connection is closed, so that
 * slow senders do not keep connections busy.
 */
function limitBodyTime(app: FastifyInstance): void {
  app.addHook('onRequest', (request, reply, done) => {
    const { bodyTimeoutMs = defaultBodyTimeoutMs, longUpload = false } = request.routeOptions.config
    if (longUpload) reply.raw.once('finish', () => endLateBody(request))
    else refuseLateBody(request, reply, bodyTimeoutMs + bodyWaitMs(request))
    done()
  })
}

/**
 * Closes each connection after its next answer while the process stops. Otherwise the stop would wait until the client
 * closes the connection.
 */
function endConnectionsOnStop(app: FastifyInstance, isStopping: () => boolean, endSilent: () => void): void {
  let isClosing = false
  app.addHook('preClose', done => {
    isClosing = true
    endSilent()
    done()
  })
  app.addHook('onSend', (_request, reply, _payload, done) => {
    if (isClosing || isStopping()) reply.header('connection', 'close')
    done()
  })
}

function logRequests(app: FastifyInstance, logger: Logger): void {
  app.addHook('onResponse', (request, reply, done) => {
    if (!logger.isLevelEnabled('info')) return done()
    const { caller, shownAs } = request
    request.log.info(
      {
        method: request.method,
        route: request.routeOptions.url ?? 'unknown',
        statusCode: reply.statusCode,
        ms: Math.round(reply.elapsedTime * 100) / 100,
        ...(caller && { caller: caller.type, subject: caller.subject }),
        ...(!caller && shownAs && { identity: shownAs.type, subject: shownAs.subject }),
      },
      'request',
    )
    done()
  })
}

const none = {}

/**
 * Returns the headers with the rate limit for each answer of the eSIM API and the Partner API. They are also sent when
 * the request did not count against a limit, for example without a token or for an unknown path.
 */
function announceRateLimits({ esim, accountLimiter }: AppDeps): (request: FastifyRequest) => Record<string, string> {
  const unused = (limiter: RateLimiter | null, holder: 'bank' | 'account') =>
    limiter ? rateLimitHeaders(limiter.limit, null, holder) : none
  const byApi: Partial<Record<Api, Record<string, string>>> = {
    esim: unused(esim.rateLimiter, 'bank'),
    partner: unused(accountLimiter, 'account'),
  }
  return request => byApi[apiOf(pathOf(request))] ?? none
}

function registerHealth(app: FastifyInstance, deps: AppDeps): void {
  const hidden = { schema: { hide: true } }
  app.get('/health/live', hidden, async () => ({ status: 'live' }))
  app.get('/health/ready', hidden, async (_, reply) => {
    const reason = await deps.notReady()
    if (reason === null) return { status: 'ready' }
    return reply.code(503).header('retry-after', '2').send({ status: 'not ready', reason })
  })
}
