// The server: the route table on Fastify, with everything around it that holds for all routes. It makes no decision about
// tasks: that is core's, the engine's and the policies'.

import { randomUUID } from 'node:crypto'
import type { AddressInfo } from 'node:net'
import { parseTraceparent, type Service } from '@reprise/core'
import { type Context, type HANDLED_ROUTES, ROUTES } from '@reprise/operations'
import type { AnsweredRequest, LoopWatch } from '@reprise/telemetry'
import Fastify, { type FastifyInstance, type FastifyReply, type FastifyRequest } from 'fastify'
import type { AccessControl } from './access/index.ts'
import type { ConsoleFiles } from './console/console-files.ts'
import type { Events } from './events/index.ts'
import { Doorway } from './http/doorway.ts'
import type { Handler } from './http/handler.ts'
import { readBodies, refuseUnreadable } from './http/json-body.ts'
import { LastAnswers, leavesBody } from './http/last-answer.ts'
import { MalformedRequests, refuseNoHost } from './http/malformed.ts'
import { OpenCalls } from './http/open-calls.ts'
import { problemOf } from './http/problem.ts'
import { RateLimit, type RateLimitOptions } from './http/rate-limit.ts'
import { type Authenticate, actorOf, noSuchPath, registerRoutes, routeOf, takeOf } from './http/route-registration.ts'
import { SECURITY_HEADERS, STRICT_TRANSPORT } from './http/security-headers.ts'
import { Sending } from './http/sending.ts'
import { accessHandlers } from './routes/access.ts'
import { eventHandlers } from './routes/events.ts'
import { homeHandlers } from './routes/home.ts'
import { leaseOf } from './routes/lease-holder.ts'
import { operationHandlers } from './routes/operations.ts'
import { retryHandlers } from './routes/retries.ts'
import { serviceHandlers } from './routes/service.ts'
import { submissionHandlers } from './routes/submissions.ts'
import { workHandlers } from './routes/work.ts'
import { storeName } from './store-patience.ts'
import type { TenantIntake } from './tenants/intake.ts'

export interface AppOptions {
  readonly context: Context
  readonly access: AccessControl
  readonly events: Events
  readonly intake: TenantIntake
  /** What people see at `/`; null if it is not there. */
  readonly console: ConsoleFiles | null
  readonly host: string
  /** 0 for any that is free. */
  readonly port: number
  readonly maxBodyBytes: number
  readonly rateLimit: RateLimitOptions
  /** Whether callers come by https, by the public address. */
  readonly isSecure: boolean
  /** Where callers find it, once it listens. */
  readonly url: () => string
  readonly metricsText: () => Promise<string>
  /** Told of every request once it is answered. */
  readonly onAnswered: (answered: AnsweredRequest) => void
  /** Told which request has the event loop. */
  readonly loop: Pick<LoopWatch, 'mark' | 'run'>
}

export interface App extends Service {
  /** Where it listens; null until it does. */
  address(): AddressInfo | null
}

/** Asked every few seconds by platforms and workers: not worth a line each. */
const ROUTINE = new Set([
  '/healthz',
  '/readyz',
  '/metrics',
  '/api/v1/claims',
  '/api/v1/leases/renew',
  '/api/v1/workers/:id/beat',
  '/api/v1/workers/:id/vouch',
])
const HEADERS_MS = 15_000
const REQUEST_MS = 300_000
const KEEP_ALIVE_MS = 75_000
const PARAM_LENGTH_MAX = 1_000
const REQUEST_ID = /^[\w.:-]{1,100}$/
/** How long answers that are under way may take once it stops. */
const DRAIN_MS = 10_000

export function createApp(options: AppOptions): App {
  const stopping = new AbortController()
  let app: FastifyInstance | null = null
  return {
    name: 'http',
    start: async () => {
      if (app !== null) return
      app = build(options, stopping.signal)
      await app.listen({ host: options.host, port: options.port })
    },
    stop: async () => {
      if (app === null) return
      const closing = app
      app = null
      stopping.abort()
      const forced = options.context.clock.after(DRAIN_MS, () => closing.server.closeAllConnections())
      await closing.close()
      forced.cancel()
    },
    address: () => {
      const address = app?.server.address() ?? null
      return typeof address === 'object' ? address : null
    },
  }
}

function build(options: AppOptions, stopping: AbortSignal): FastifyInstance {
  const { context, access, events, intake, loop, console } = options
  const { clock } = context
  const headers = options.isSecure ? { ...SECURITY_HEADERS, ...STRICT_TRANSPORT } : SECURITY_HEADERS
  const last = new LastAnswers(clock)
  const malformed = new MalformedRequests(headers, last)
  const problems: Problems = { ...options, last, log: context.log, engine: context.engine }
  const addressOf = (request: FastifyRequest): string => access.addressOf(request)
  const limit = new RateLimit(options.rateLimit, clock)
  const overLimit = (request: FastifyRequest, reply: FastifyReply): unknown => {
    try {
      reply.headers(takeOf({ limit, addressOf }, request))
      return null
    } catch (refusal) {
      return refusal
    }
  }
  const app = Fastify({
    logger: false,
    bodyLimit: options.maxBodyBytes,
    requestTimeout: REQUEST_MS,
    keepAliveTimeout: KEEP_ALIVE_MS,
    http: { headersTimeout: HEADERS_MS, requireHostHeader: false },
    routerOptions: { maxParamLength: PARAM_LENGTH_MAX },
    genReqId: requestId,
    // Idle keep-alive connections must not hold up a stop.
    forceCloseConnections: 'idle',
    return503OnClosing: true,
    clientErrorHandler: (error, socket) => malformed.refuse(error, socket),
    // No hook runs for these: there is no route that they could belong to.
    frameworkErrors: (error, request, reply) => {
      reply.raw.once('finish', () => tell(options, request, reply))
      reply.headers(headers).header('x-request-id', request.id)
      answerProblem(overLimit(request, reply) ?? error, problems, request, reply)
    },
  })
  malformed.serveExpectations(app.server)
  readBodies(app, { maxBodyBytes: options.maxBodyBytes, clock, loop })
  const doorway = new Doorway(clock, addressOf)
  const check = (request: FastifyRequest, reply: FastifyReply): Error | undefined => {
    loop.mark(routeOf(request))
    try {
      reply.headers(headers).header('x-request-id', request.id)
      refuseNoHost(request)
      refuseUnreadable(request)
      if (request.is404) reply.headers(takeOf({ limit, addressOf }, request))
    } catch (error) {
      return asError(error)
    }
    return request.is404 && console?.has(request) !== true ? noSuchPath(request) : undefined
  }
  // Not asynchronous: this runs for every request, and mostly has nothing to wait for.
  app.addHook('onRequest', (request, reply, done) => doorway.enter(request, () => done(check(request, reply))))
  tellAnswered(app, options)
  answerProblems(app, problems, console)
  const isNear = (request: FastifyRequest): boolean => access.isNear(request)
  const authenticate: Authenticate = (request) => access.authenticate(request)
  const handled: Readonly<Record<keyof typeof HANDLED_ROUTES, Handler<never>>> = {
    ...homeHandlers(context.version, console),
    ...serviceHandlers(context, { metricsText: options.metricsText, isNear, authenticate, stopping, url: options.url }),
    ...submissionHandlers(context, intake),
    ...retryHandlers(context),
    ...workHandlers(context, access),
    ...eventHandlers(events, { authenticate }),
    ...accessHandlers(access),
  }
  const handlers = { ...handled, ...operationHandlers(context) }
  registerRoutes(app, ROUTES, handlers, {
    authenticate,
    leaseOf: (request) => leaseOf(context, access, request),
    addressOf,
    limit,
    doorway,
    open: new OpenCalls(stopping),
    loop,
    sending: new Sending({ clock }),
  })
  return app
}

/** Somebody else's id is kept if it is one, so that a request can be followed from one system to the next. */
function requestId({ headers }: { readonly headers: Readonly<Record<string, string | string[] | undefined>> }): string {
  const given = headers['x-request-id']
  return typeof given === 'string' && REQUEST_ID.test(given) ? given : randomUUID()
}

const asError = (thrown: unknown): Error => (thrown instanceof Error ? thrown : new Error(String(thrown)))

type Told = Pick<AppOptions, 'onAnswered' | 'access'>

function tellAnswered(app: FastifyInstance, options: AppOptions): void {
  app.addHook('onResponse', (request, reply, done) => {
    tell(options, request, reply)
    done()
  })
}

function tell({ onAnswered, access }: Told, request: FastifyRequest, reply: FastifyReply): void {
  const route = request.routeOptions?.url ?? null
  const trace = parseTraceparent(request.headers.traceparent)
  onAnswered({
    method: request.method,
    route,
    url: request.url,
    status: reply.statusCode,
    durationMs: reply.elapsedTime,
    requestId: request.id,
    actor: actorOf(request),
    address: access.addressOf(request),
    isRoutine: route !== null && ROUTINE.has(route),
    ...(trace === null ? {} : { traceId: trace.traceId }),
  })
}

function answerProblems(app: FastifyInstance, problems: Problems, console: ConsoleFiles | null): void {
  app.setErrorHandler((error, request, reply) => answerProblem(error, problems, request, reply))
  app.setNotFoundHandler((request, reply) => {
    if (console?.has(request) === true) return console.send(request, reply)
    throw noSuchPath(request)
  })
}

interface Problems extends Told, Pick<Context, 'log' | 'engine'> {
  readonly last: LastAnswers
}

function answerProblem(
  error: unknown,
  { log, engine, last, ...told }: Problems,
  request: FastifyRequest,
  reply: FastifyReply,
): FastifyReply {
  const problem = problemOf(error, request.id, storeName(engine))
  const about = { request_id: request.id, method: request.method, route: request.routeOptions?.url ?? 'unknown' }
  if (problem.isOurs) {
    const cause = error instanceof Error ? (error.cause ?? error) : error
    const story = cause instanceof Error ? (cause.stack ?? cause.message) : String(cause)
    log.error('A request failed inside.', { ...about, error: story })
  } else if (problem.storeSays !== null) {
    log.warn('The store failed a request.', { ...about, error: problem.storeSays })
  }
  if (leavesBody(request, reply)) {
    last.send(request.raw.socket, problem, reply.getHeaders())
    reply.code(problem.status).hijack()
    tell(told, request, reply)
    return reply
  }
  return reply
    .code(problem.status)
    .headers(problem.headers)
    .type('application/problem+json')
    .send(JSON.stringify(problem.body))
}
