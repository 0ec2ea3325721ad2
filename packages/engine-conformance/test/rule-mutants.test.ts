// The comparison finds faults inside a store, too: each engine here is the model with one rule broken, by putting another
// function in place of one of its own.

import { tenantId } from '@reprise/core'
import { compareWithModel, type EngineFactory, faultText } from '@reprise/engine-conformance'
import { afterEach, expect, test, vi } from 'vitest'

const SHORT_ENOUGH = 12

type Breakers = typeof import('../src/model/breakers.ts')
type Quotas = typeof import('../src/model/quotas.ts')
type Dispatch = typeof import('../src/model/dispatch.ts')
type Avoid = typeof import('../src/model/avoid.ts')
type Registry = typeof import('../src/model/registry.ts')
type Claims = typeof import('../src/model/claim.ts')

const breakers = (change: (sound: Breakers) => Partial<Breakers>) => (): void => {
  vi.doMock('../src/model/breakers.ts', async (sound: () => Promise<Breakers>) => {
    const own = await sound()
    return { ...own, ...change(own) }
  })
}

const dispatch = (change: (sound: Dispatch) => Partial<Dispatch>) => (): void => {
  vi.doMock('../src/model/dispatch.ts', async (sound: () => Promise<Dispatch>) => {
    const own = await sound()
    return { ...own, ...change(own) }
  })
}

/** Each breaks one rule of the model that is loaded next. */
const mutants: Readonly<Record<string, () => void>> = {
  'charges what it should park': breakers((sound) => ({
    tellFailure: (...failure) => {
      sound.tellFailure(...failure)
      return false
    },
  })),

  'lets a straggler close a breaker': breakers((sound) => ({
    tellSuccess: (state, action) => sound.tellSuccess(state, action, state.now),
  })),

  'lets a straggler open a breaker again': breakers((sound) => ({
    tellFailure: (state, outage, action) => sound.tellFailure(state, outage, action, state.now),
  })),

  'holds only the tenants that failed': breakers((sound) => ({
    tellFailure: (state, ...failure) => {
      const isParked = sound.tellFailure(state, ...failure)
      for (const [id, { tenant }] of state.breakers) if (tenant === null) state.breakers.delete(id)
      return isParked
    },
  })),

  'lets one tenant’s failures hold another': breakers((sound) => ({
    tellFailure: (state, outage, lane, startedAt) =>
      sound.tellFailure(state, outage, { ...lane, tenant: tenantId('n0') }, startedAt),
  })),

  'never lets a probe through': breakers(() => ({ tellTime: () => undefined })),

  'does not say when a breaker lets probes through': breakers(() => ({ nextProbeAt: () => null })),

  'forgets to count what a quota has given out': () => {
    vi.doMock('../src/model/quotas.ts', async (sound: () => Promise<Quotas>) => {
      const { placeRetry } = await sound()
      return {
        placeRetry: (...[state, ...retry]: Parameters<Quotas['placeRetry']>) => {
          state.quotas.clear()
          return placeRetry(state, ...retry)
        },
      }
    })
  },

  'shares a quota among tenants that have it each for itself': () => {
    vi.doMock('../src/model/quotas.ts', async (sound: () => Promise<Quotas>) => {
      const { placeRetry } = await sound()
      return {
        placeRetry: (...[state, task, wantedAt, quota]: Parameters<Quotas['placeRetry']>) =>
          placeRetry(state, task, wantedAt, quota === undefined ? undefined : { ...quota, allTenants: true }),
      }
    })
  },

  'collects from an inbox what is past its time there': dispatch((sound) => ({
    collect: (state, request, limit) => {
      for (const task of state.tasks.values()) {
        const { state: at } = task
        if (at.status === 'running' && at.stage === 'inbox' && at.leaseUntil <= state.now) {
          task.state = { ...at, leaseUntil: state.now + 1 }
        }
      }
      return sound.collect(state, request, limit)
    },
  })),

  'lets the dispatcher’s token live on': dispatch((sound) => ({
    assign: (state, assignments) => {
      const results = sound.assign(state, assignments)
      results.forEach((result, index) => {
        const { taskId, token } = assignments[index] ?? {}
        const task = taskId === undefined ? undefined : state.tasks.get(taskId)
        if (result.outcome !== 'assigned' || task?.state.status !== 'running' || token === undefined) return
        task.state = { ...task.state, token }
        const execution = task.executions.get(task.attempt)
        if (execution !== undefined) task.executions.set(task.attempt, { ...execution, token })
      })
      return results
    },
  })),

  'gives a retry to the worker that failed it': () => {
    vi.doMock('../src/model/avoid.ts', (): Avoid => ({ avoidedUntil: () => null }))
  },

  'runs what a message wants launched': () => {
    vi.doMock('../src/model/claim.ts', async (sound: () => Promise<Claims>) => {
      const { claim, reserve } = await sound()
      return {
        claim,
        reserve: (...[state, request]: Parameters<Claims['reserve']>) => reserve(state, { ...request, stage: 'run' }),
      }
    })
  },

  'takes the failures on a worker for those of one tenant': () => {
    vi.doMock('../src/model/registry.ts', async (sound: () => Promise<Registry>) => {
      const own = await sound()
      return {
        ...own,
        witness: (...[state, worker, outcome]: Parameters<Registry['witness']>) =>
          own.witness(state, worker, { ...outcome, tenant: tenantId('n0') }),
      }
    })
  },

  'does not see that a worker got something done': () => {
    vi.doMock('../src/model/registry.ts', async (sound: () => Promise<Registry>) => ({
      ...(await sound()),
      progressed: () => undefined,
    }))
  },
}

/** Faults that take thousands of sequences to show. A long run looks for them (`npm run test:long -- rule-mutants`). */
const RARE: ReadonlySet<string> = new Set([
  'lets a straggler open a breaker again',
  'holds only the tenants that failed',
  'never lets a probe through',
  'does not say when a breaker lets probes through',
  'forgets to count what a quota has given out',
])
const isLong = process.env.REPRISE_LONG === '1'
const tried = Object.entries(mutants).filter(([name]) => isLong || !RARE.has(name))

afterEach(() => {
  for (const part of ['breakers', 'quotas', 'dispatch', 'avoid', 'registry', 'claim'])
    vi.doUnmock(`../src/model/${part}.ts`)
})

test.each(tried)('an engine that %s is caught', { timeout: 300_000 }, async (name, breakRule) => {
  vi.resetModules()
  breakRule()
  const { createModel } = await import('../src/model/model.ts')
  const factory: EngineFactory = { name, open: async (options) => createModel(options) }
  const report = await compareWithModel(factory, { sequences: 2_000 })
  expect(report.fault, 'no difference was found').not.toBe(null)
  expect(report.fault?.commands.length, faultText(report)).toBeLessThanOrEqual(SHORT_ENOUGH)
  expect(report.fault?.message).toMatch(/^(After .+ the answers differ:|Invariant \d+ does not hold: )/)
})

test('the same model with no rule broken agrees', async () => {
  vi.resetModules()
  const { createModel } = await import('../src/model/model.ts')
  const report = await compareWithModel(
    { name: 'loaded anew', open: async (options) => createModel(options) },
    { sequences: 100 },
  )
  expect(faultText(report)).toBe('')
})
