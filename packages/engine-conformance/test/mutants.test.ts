// The comparison finds faults: each engine here is the model with one thing broken, and each must be caught, with a
// sequence short enough to read.

import { type Claimed, type Clock, type Engine, KEY_FOREVER_MS, type Settlement } from '@reprise/core'
import { findingOf } from '@reprise/core/engine'
import {
  compareWithModel,
  createModel,
  type EngineFactory,
  type EngineOptions,
  faultText,
} from '@reprise/engine-conformance'
import { expect, test } from 'vitest'

/** Breaks one thing of a sound engine. */
type Mutation = (engine: Engine, options: EngineOptions) => Engine

const SHORT_ENOUGH = 12

const mutants: Readonly<Record<string, Mutation>> = {
  'settles whatever the token': (engine) => ({
    ...engine,
    settle: async (settlements) =>
      engine.settle(await Promise.all(settlements.map((item) => withCurrentToken(engine, item)))),
  }),

  'gives a lease out twice': (engine) => {
    let last: Claimed | undefined
    return {
      ...engine,
      async claim(request) {
        const result = await engine.claim(request)
        const claimed = last === undefined ? result.claimed : [last, ...result.claimed]
        last = result.claimed[0]
        return { ...result, claimed }
      },
    }
  },

  'never counts a running task down': (engine) => ({
    ...engine,
    async counts(query) {
      const counts = await engine.counts(query)
      return { ...counts, running: counts.running + counts.succeeded }
    },
  }),

  'lets everybody lift every hold': (engine) => ({
    ...engine,
    resume: (scope, { actor, reason }) => engine.resume(scope, { actor, reason }),
  }),

  'counts the bytes of payloads twice': (engine) => ({
    ...engine,
    async tenants(page) {
      const { items, next } = await engine.tenants(page)
      return { items: items.map((one) => ({ ...one, bytes: one.bytes * 2 })), next }
    },
  }),

  'forgets the journal entry of a lost attempt': (engine) => ({
    ...engine,
    journal: {
      ...engine.journal,
      async read(query) {
        const page = await engine.journal.read(query)
        return { ...page, entries: page.entries.filter(({ type }) => type !== 'execution.lost') }
      },
    },
  }),

  'promotes half a second before it is due': (_engine, options) => {
    let aheadMs = 0
    const clock: Clock = {
      ...options.clock,
      now: () => options.clock.now() + aheadMs,
      after: options.clock.after.bind(options.clock),
    }
    const early = createModel({ ...options, clock })
    return {
      ...early,
      async claim(request) {
        aheadMs = 500
        const promoted = early.claim({ ...request, actions: [] })
        aheadMs = 0
        await promoted
        return early.claim(request)
      },
    }
  },

  'finds damage where there is none': (engine) => ({
    ...engine,
    async inspect(request) {
      const result = await engine.inspect(request)
      const subject = { kind: 'store' } as const
      const finding = findingOf({ kind: 'count', subject, found: '1', expected: '2', repaired: request.repair })
      return { ...result, findings: [finding] }
    },
  }),

  'accepts two tasks under one idempotency key': (engine) => ({
    ...engine,
    submit: (specs) => engine.submit(specs.map((spec) => ({ ...spec, dedupeKey: null }))),
  }),

  'takes another task under the same id for a repetition': (engine) => ({
    ...engine,
    submit: async (specs) =>
      (await engine.submit(specs)).map(({ id, outcome }) =>
        outcome === 'accepted' ? { id, outcome } : { id, outcome: 'duplicate' },
      ),
  }),

  'holds a dedupe key beyond the end of its task': (engine) => ({
    ...engine,
    submit: (specs) => engine.submit(specs.map((spec) => ({ dedupeMs: KEY_FOREVER_MS, ...spec }))),
  }),

  'takes a repeated call for a new one': (engine) => ({
    ...engine,
    async settle(settlements) {
      const results = await engine.settle(settlements)
      return results.map((result) => (result.outcome === 'settled' ? { ...result, repeated: false } : result))
    },
  }),

  'lets one too many run': (engine) => ({
    ...engine,
    limit: (scope, concurrency, by) => engine.limit(scope, concurrency === null ? null : concurrency + 1, by),
  }),

  'leaves the execution of a cancelled task running': (engine) => ({
    ...engine,
    async executions(id, page) {
      const found = await engine.executions(id, page)
      const items = found.items.map((item) =>
        item.status === 'cancelled' ? { ...item, status: 'running' as const, resolvedAt: null } : item,
      )
      return { ...found, items }
    },
  }),

  'lets an outdated epoch claim': (engine) => {
    const epochs = new Map<string, number>()
    return {
      ...engine,
      async register(registration) {
        const { epoch } = await engine.register(registration)
        epochs.set(registration.worker, epoch)
        return { epoch }
      },
      claim: (request) => engine.claim({ ...request, epoch: epochs.get(request.worker) ?? request.epoch }),
    }
  },

  'gives an unhealthy worker a task': (engine) => ({
    ...engine,
    async claim(request) {
      const result = await engine.claim(request)
      return { ...result, heldBack: null }
    },
  }),

  'starts what is past its time': (engine) => ({
    ...engine,
    submit: (specs) => engine.submit(specs.map((spec) => ({ ...spec, deadlineMs: null }))),
  }),

  'forgets tasks when it removes others': (engine) => ({
    ...engine,
    async tasks(query) {
      const page = await engine.tasks(query)
      const { removed } = await engine.counts()
      return { ...page, items: removed > 0 ? page.items.slice(1) : page.items }
    },
  }),
}

async function withCurrentToken(engine: Engine, settlement: Settlement): Promise<Settlement> {
  if (settlement.kind === 'expired') return settlement
  const task = await engine.task(settlement.ref.taskId)
  if (task?.state.status !== 'running') return settlement
  const { attempt, token } = task.state
  return { ...settlement, ref: { ...settlement.ref, attempt, token } }
}

test.each(Object.entries(mutants))('an engine that %s is caught', async (name, mutate) => {
  const factory: EngineFactory = { name, open: async (options) => mutate(createModel(options), options) }
  const report = await compareWithModel(factory, { sequences: 2_000 })
  expect(report.fault, 'no difference was found').not.toBe(null)
  expect(report.fault?.commands.length, faultText(report)).toBeLessThanOrEqual(SHORT_ENOUGH)
  expect(report.fault?.message).toMatch(/^(After .+ the answers differ:|Invariant \d+ does not hold: )/)
})

test.each([
  ['gives a lease out twice', 3],
  ['never counts a running task down', 13],
  ['forgets the journal entry of a lost attempt', 9],
  ['leaves the execution of a cancelled task running', 2],
  ['finds damage where there is none', 10],
])('an engine with several places that %s is caught by invariant %d alone', async (name, invariant) => {
  const open = async (options: EngineOptions) => mutants[name]?.(createModel(options), options) ?? createModel(options)
  const report = await compareWithModel({ name, open, placeOf: () => 0 }, { sequences: 500 })
  expect(report.fault?.message).toMatch(new RegExp(`^Invariant ${invariant} does not hold: `))
})

test('a fault is told as a list of commands and the places that differ', async () => {
  const wrong: EngineFactory = {
    name: 'wrong',
    async open(options) {
      const engine = createModel(options)
      return { ...engine, claim: async (request) => ({ ...(await engine.claim(request)), nextDueAt: 0 }) }
    },
  }
  const report = await compareWithModel(wrong, { sequences: 50, seed: 1 })
  const told = faultText(report)
  expect(told).toContain('(seed 1):')
  expect(told).toMatch(/\n {2}1\. claim \{"claim":\{"worker":0,"limit":1,"leaseMs":1000\}\}\n/)
  expect(told).toContain('  answer.nextDueAt\n    model:  null\n    engine: 0')
})

test('an engine that throws something of its own is caught', async () => {
  const broken: EngineFactory = {
    name: 'broken',
    open: async (options) => ({ ...createModel(options), submit: () => Promise.reject(new TypeError('oops')) }),
  }
  const report = await compareWithModel(broken, { sequences: 10 })
  expect(report.fault?.message).toContain('TypeError: oops')
})
