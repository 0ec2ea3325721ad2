// What only a server has, over HTTP: policies, feature flags, API tokens, ready-made figures, and what the server is. Each
// group is a set of calls on one subject.

import { type Duration, durationMs, type Page, type PageRequest, type ScalingSignal } from '@reprise/core'
import type { ConnectionInfo } from '../backend.ts'
import { onlyBy } from '../operator-requests.ts'
import type {
  FigureCalls,
  Flag,
  FlagCalls,
  Me,
  Monitoring,
  NewToken,
  PoliciesInForce,
  PolicyCalls,
  PolicyTemplate,
  PolicyVersion,
  SimulatedAttempt,
  Simulation,
  Token,
  TokenCalls,
} from '../server-calls.ts'
import { path, type QueryValue } from './address.ts'
import { reasonOf } from './operations.ts'
import type { Transport } from './transport.ts'
import { failureOf, objectOf, pageOf } from './wire.ts'

type Query = Readonly<Record<string, QueryValue>>

async function read<T extends object>(transport: Transport, pathname: string, query: Query = {}): Promise<T> {
  const { body } = await transport.call({ method: 'GET', path: pathname, query, isRepeatable: true })
  return objectOf<T>(body, transport.whom)
}

async function readPage<T>(transport: Transport, pathname: string, page: PageRequest): Promise<Page<T>> {
  return pageOf<T, T>(await read(transport, pathname, { ...page }), transport.whom, (item) => item)
}

/** As the API takes a duration in a query. */
const span = (value: Duration | undefined, what: string): string | undefined =>
  value === undefined ? undefined : `${durationMs(value, what)}ms`

export function policyCalls(transport: Transport): PolicyCalls {
  return {
    current: () => read<PoliciesInForce>(transport, '/api/v1/policies'),
    versions: (page = {}) => readPage<PolicyVersion>(transport, '/api/v1/policies/versions', page),
    async version(number) {
      const pathname = path`/api/v1/policies/versions/${number}`
      const body = await transport.find({ method: 'GET', path: pathname, isRepeatable: true })
      return body === null ? null : objectOf<PolicyVersion>(body, transport.whom)
    },
    async publish(text, { dryRun = false, expected } = {}) {
      const { body } = await transport.call({
        method: 'PUT',
        path: '/api/v1/policies',
        body: { text, dryRun },
        ...(expected === undefined ? {} : { headers: { 'if-match': `"${expected}"` } }),
        // A second time it would be a version of its own, or a conflict with itself.
        isRepeatable: dryRun,
      })
      return objectOf<PoliciesInForce>(body, transport.whom)
    },
    async templates() {
      const { templates } = await read<{ readonly templates: readonly PolicyTemplate[] }>(
        transport,
        '/api/v1/policies/templates',
      )
      return templates
    },
    async simulate(request) {
      const { body } = await transport.call({
        method: 'POST',
        path: '/api/v1/policies/simulate',
        body: request,
        isRepeatable: true,
      })
      const { attempts, notes } = objectOf<Simulation>(body, transport.whom)
      const withText = (one: SimulatedAttempt): SimulatedAttempt => ({ ...one, failure: failureOf(one.failure) })
      return { attempts: attempts.map(withText), notes }
    },
  }
}

export function flagCalls(transport: Transport): FlagCalls {
  return {
    list: async () => (await read<{ readonly flags: readonly Flag[] }>(transport, '/api/v1/flags')).flags,
    async set(name, on, options = {}) {
      const { body } = await transport.call({
        method: 'PUT',
        path: path`/api/v1/flags/${name}`,
        body: { on, ...reasonOf(onlyBy(options)) },
        isRepeatable: true,
      })
      return objectOf<Flag>(body, transport.whom)
    },
  }
}

export function tokenCalls(transport: Transport): TokenCalls {
  return {
    list: (page = {}) => readPage<Token>(transport, '/api/v1/tokens', page),
    async create(request) {
      // Its secret is told once: a repeat would leave a token that nobody knows.
      const { body } = await transport.call({
        method: 'POST',
        path: '/api/v1/tokens',
        body: request,
        isRepeatable: false,
      })
      return objectOf<NewToken>(body, transport.whom)
    },
    async revoke(id) {
      await transport.call({ method: 'DELETE', path: path`/api/v1/tokens/${id}`, isRepeatable: false })
    },
    me: () => read<Me>(transport, '/api/v1/me'),
  }
}

export function figureCalls(transport: Transport): FigureCalls {
  return {
    monitoring: ({ window } = {}) =>
      read<Monitoring>(transport, '/api/v1/monitoring', { window: span(window, 'window') }),
    async scaling({ pool, targetWait, slotsPerWorker, duration } = {}) {
      const { signals } = await read<{ readonly signals: readonly ScalingSignal[] }>(transport, '/api/v1/scaling', {
        pool,
        targetWait: span(targetWait, 'targetWait'),
        slotsPerWorker,
        duration: span(duration, 'duration'),
      })
      return signals
    },
  }
}

interface InfoWire {
  readonly version: string
  readonly engine: ConnectionInfo['engine']
  readonly now: number
  readonly maxRetries: number
  readonly flags: Readonly<Record<string, boolean>>
}

export async function serverInfo(transport: Transport): Promise<ConnectionInfo> {
  const { engine, version, now, maxRetries, flags } = await read<InfoWire>(transport, '/api/v1/info')
  return { engine, server: { version, now, maxRetries, flags } }
}
