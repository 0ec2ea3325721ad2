// Walks the route table: for each line, who is it, may they, is the input right, then the handler, then the answer. The one
// place where a request meets a handler, so that no route can forget a check.

import { type LeaseRef, NotFoundError, RequestError } from '@reprise/core'
import {
  authorise,
  type Caller,
  FixedTextError,
  isStoreError,
  parsedInput,
  type Route,
  type Taker,
  wholeStore,
} from '@reprise/operations'
import { inRequest, type LoopWatch } from '@reprise/telemetry'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import type { ZodType } from 'zod'
import { RemoteAddresses } from '../access/remote-address.ts'
import type { Doorway } from './doorway.ts'
import type { Answer, Call, Handler } from './handler.ts'
import type { OpenCalls } from './open-calls.ts'
import type { RateLimit } from './rate-limit.ts'
import { type Sending, unknownTaker } from './sending.ts'

/** Who asks, as far as the credentials of a request tell; null if it brings none. */
export type Authenticate = (request: FastifyRequest) => Promise<Caller | null>

export interface RequestChecks {
  readonly authenticate: Authenticate
  /** The lease whose credential the head of a request brings; null if it brings none. Throws if it is not the right one. */
  readonly leaseOf: (request: FastifyRequest) => Promise<LeaseRef | null>
  /** The address that counts for limits, whatever a header says. */
  readonly addressOf: (request: FastifyRequest) => string
  readonly limit: RateLimit
  readonly doorway: Doorway
  readonly open: OpenCalls
  readonly loop: Pick<LoopWatch, 'mark' | 'run'>
  readonly sending: Sending
}

const METHODS = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS', 'TRACE', 'QUERY']
/** Probes of an orchestrating platform must not be turned away because somebody else asks often. */
const UNLIMITED = new Set(['/healthz', '/readyz', '/metrics'])

export function registerRoutes(
  app: FastifyInstance,
  table: Readonly<Record<string, Route>>,
  handlers: Readonly<Record<string, Handler<never>>>,
  checks: RequestChecks,
): void {
  app.addHttpMethod('QUERY', { hasBody: true, overrideExisting: true })
  const methods = new Map<string, Set<string>>()
  for (const [name, route] of Object.entries(table)) {
    const handler = handlers[name]
    if (handler === undefined) throw new Error(`No handler for '${name}'.`)
    const url = route.path.replaceAll(/\{(\w+)\}/g, ':$1')
    const known = methods.get(url) ?? new Set()
    // A stream has no end that an answer without a body could have.
    const hasHead = route.method === 'GET' && route.answers[200]?.kind === 'json'
    methods.set(url, known.add(route.method))
    if (hasHead) known.add('HEAD')
    app.route({
      method: route.method,
      url,
      exposeHeadRoute: hasHead,
      config: { name: `${route.method} ${route.path}` },
      // Before the body is read: a caller without the right must not make us read.
      onRequest: (request, reply) => admit(name, route, checks, request, reply),
      // The table and the handlers are tied together by the type Handlers.
      handler: (request, reply) => serve(route, handler as Handler, checks, request, reply),
    })
  }
  for (const [url, known] of methods) refuseOthers(app, url, known, checks)
}

/** For figures and logs: which line of the table it is. */
export const routeOf = ({ routeOptions }: FastifyRequest): string => routeOptions.config.name ?? 'none'

declare module 'fastify' {
  interface FastifyContextConfig {
    /** The line of the table: `GET /api/v1/tasks/{id}`. */
    readonly name?: string
  }
}

/** A path that exists, asked in a way that it does not offer. */
function refuseOthers(app: FastifyInstance, url: string, known: ReadonlySet<string>, checks: RequestChecks): void {
  const allow = [...known].sort().join(', ')
  const refuse = async (request: FastifyRequest, reply: FastifyReply): Promise<never> => {
    reply.headers(takeOf(checks, request)).header('allow', allow)
    throw new RequestError('REPRISE_METHOD_NOT_ALLOWED', `This path takes ${allow} only.`)
  }
  const method = METHODS.filter((one) => !known.has(one))
  // Before a body is read, as on every route.
  app.route({ method, url, exposeHeadRoute: false, onRequest: refuse, handler: refuse })
}

/** Takes one from the caller at this address: nobody may ask without end for what does not exist. Gives the headers that tell. */
export function takeOf({ limit, addressOf }: Pick<RequestChecks, 'limit' | 'addressOf'>, request: FastifyRequest) {
  return limit.take(bucketOf(addressOf(request)))
}

const bucketOf = (address: string): string => `address:${RemoteAddresses.groupOf(address)}`

async function serve(
  route: Route,
  handler: Handler,
  checks: RequestChecks,
  request: FastifyRequest,
  reply: FastifyReply,
) {
  const call = new CheckedCall(route, callers.get(request) ?? null, checks.open, request, reply)
  const traced = { method: route.method, route: route.path, traceparent: headerOf(request, 'traceparent') }
  const answer = await checks.loop.run(routeOf(request), () => inRequest(traced, async () => handler(call), statusOf))
  const pause = checks.doorway.leave(request)
  if (pause !== null) await pause
  const takerOf = (): Taker => callers.get(request) ?? unknownTaker(RemoteAddresses.groupOf(checks.addressOf(request)))
  return checks.sending.send(answer, reply, takerOf)
}

const statusOf = (answer: Answer): number => ('status' in answer ? answer.status : 200)

function headerOf({ headers }: FastifyRequest, name: string): string | undefined {
  const value = headers[name]
  return typeof value === 'string' ? value : undefined
}

class CheckedCall implements Call {
  readonly params: never
  readonly query: never
  readonly body: never
  readonly caller: Caller
  readonly request: FastifyRequest
  readonly reply: FastifyReply
  readonly #open: OpenCalls
  #signal: AbortSignal | null = null

  constructor(
    { params, query, body }: Route,
    caller: Caller | null,
    open: OpenCalls,
    request: FastifyRequest,
    reply: FastifyReply,
  ) {
    this.params = parsed('path', params, request.params)
    this.query = parsed('query', query, request.query)
    this.body = parsed('body', body, request.body)
    // Null on public routes only, where the type of the call says so.
    this.caller = caller as Caller
    this.request = request
    this.reply = reply
    this.#open = open
  }

  /** Made only for those who look: most handlers never wait. */
  get signal(): AbortSignal {
    this.#signal ??= this.#open.signalOf(this.reply.raw)
    return this.#signal
  }
}

/** Finds out who asks, and whether they may. A public route does not ask: what a caller brings along has no say there. */
async function admit(
  name: string,
  route: Route,
  checks: RequestChecks,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<void> {
  const { access, path } = route
  if (access === 'public') {
    if (!UNLIMITED.has(path)) reply.headers(takeOf(checks, request))
    const lease = await checks.leaseOf(request)
    if (lease === null) refuseLargeBody(request)
    else leases.set(request, lease)
    return
  }
  try {
    const caller = await checks.authenticate(request)
    // An unknown caller pays by its address: a flood without credentials must not be free.
    reply.headers(caller === null ? takeOf(checks, request) : checks.limit.takeFor(caller))
    if (caller !== null) {
      callers.set(request, caller)
      checks.doorway.know(request, caller)
    }
    authorise(caller, access, name)
    if (caller !== null && route.tenants === 'all') wholeStore(caller)
  } catch (error) {
    throw asPromised(route, error)
  }
}

/** What anybody may send without a credential in the head of the request. */
const OPEN_BODY_BYTES_MAX = 65_536

/** Before it is read: nobody knows yet whether the sender may send anything at all. */
function refuseLargeBody({ headers }: FastifyRequest): void {
  const hasLength = headers['transfer-encoding'] === undefined
  if (hasLength && Number(headers['content-length'] ?? 0) <= OPEN_BODY_BYTES_MAX) return
  throw new RequestError(
    'REPRISE_TOO_LARGE',
    `Anybody may call this, so it takes at most ${OPEN_BODY_BYTES_MAX} bytes, announced by Content-Length. The end of an attempt may be larger if its token comes in the head of the request: docs/protocol.md says how.`,
  )
}

const leases = new WeakMap<FastifyRequest, LeaseRef>()

/** The lease whose credential was found right before the body was read; null if the head of the request brought none. */
export const leaseHeldBy = (request: FastifyRequest): LeaseRef | null => leases.get(request) ?? null

const callers = new WeakMap<FastifyRequest, Caller>()

/** Who a request turned out to be from, for the log. */
export const actorOf = (request: FastifyRequest): string | null => callers.get(request)?.actor ?? null

/**
 * A8 promises a fixed text to the dashboard, and 502 to retries if the store can not be read, also where it is asked who is
 * asking. The 502 of an outside queue is about that queue.
 */
function asPromised(route: Route, error: unknown): unknown {
  const isRetry = route.tag === 'tasks' && route.problems?.includes(STORE_UNREADABLE) === true
  if (isRetry && isStoreError(error)) return unreadable(error)
  const isDashboard = route.path.startsWith('/dashboard/')
  if (!isDashboard || !(error instanceof RequestError) || error.code !== 'REPRISE_UNAUTHENTICATED') return error
  return new FixedTextError('REPRISE_UNAUTHENTICATED', 'dashboard_unauthorized', error.message, { cause: error })
}

const STORE_UNREADABLE = 502

const unreadable = (cause: Error): RequestError =>
  new RequestError('REPRISE_STORE_UNREACHABLE', 'The store could not be read. Nothing was changed; try again.', {
    cause,
  })

function parsed(where: string, schema: ZodType | undefined, value: unknown): never {
  if (schema === undefined) return undefined as never
  return parsedInput(schema, value ?? (where === 'body' ? undefined : {}), () => where) as never
}

/** For paths that nobody knows. */
export const noSuchPath = (request: FastifyRequest): NotFoundError =>
  new NotFoundError('path', `${request.method} ${request.url.split('?', 1)[0]?.slice(0, 200) ?? ''}`)
