// `npm run bench:groups`: how long operators wait for failure groups when there are very many dead letters. The same questions are
// asked of a store with few and of one with many, in one run; what counts is by how much the slowest answers grow.

import { parseArgs } from 'node:util'
import { createClient } from '@reprise/client'
import { connectEngine } from '@reprise/connect'
import {
  actionName,
  BATCH_MAX,
  type Claimed,
  DEFAULT_SETTINGS,
  decideFailed,
  describeFailure,
  encodeJson,
  failed,
  poolName,
  retryToken,
  type Settlement,
  succeeded,
  type TaskSpec,
  taskId,
  tenantId,
  workerId,
} from '@reprise/core'
import type { EngineName } from '../arguments.ts'
import { percentile } from '../statistics.ts'
import { addressOf, type Store } from '../store.ts'
import { openStores } from '../stores.ts'

const HELP = `Usage: npm run bench:groups -- [options]

Fills a store with dead letters in groups of a hundred, and asks for lists of groups, one group and its cause.

  --engine NAME   sqlite or redis (sqlite)
  --small N       dead letters of the first store (10000)
  --large N       of the second (1000000)
  --rounds N      how often each question is asked (100)
  --json          the last line of stdout is one object
  --help          show this
`

/** The slowest answers of the large store may take this many times as long as those of the small one. */
const TARGET = 5
const PER_GROUP = 100
/** One task in twenty succeeds. */
const GOOD_EVERY = 20
const WARM_UP = 5

const tell = (line: string): void => void process.stderr.write(`${line}\n`)

const ACTION = actionName('order.send')
const POOL = poolName('default')

function specOf(order: number): TaskSpec {
  const id = `order-${order}`
  const region = order % GOOD_EVERY === 0 ? 'us' : 'eu'
  return {
    id: taskId(id),
    action: ACTION,
    pool: POOL,
    tenant: tenantId('default'),
    payload: encodeJson({ order, region, items: [order % 7] }, 'payload'),
    labels: { region },
    priority: 5,
    settings: DEFAULT_SETTINGS,
    retryToken: retryToken(id),
    dedupeKey: null,
    deadlineAt: null,
    delayMs: 0,
    dueAt: null,
    deadlineMs: null,
  }
}

/** Straight on the store, in large batches: how long that takes is not measured here. */
async function fill(address: string, dead: number): Promise<void> {
  const groups = Math.max(1, Math.floor(dead / PER_GROUP))
  const tasks = Math.ceil((dead * GOOD_EVERY) / (GOOD_EVERY - 1))
  const connection = await connectEngine(address)
  const { engine } = connection
  try {
    const worker = workerId('bench')
    const around = { host: 'bench', version: '2', runtimes: [], endpoint: null }
    const { epoch } = await engine.register({ worker, pools: [POOL], actions: null, ...around })
    const request = { worker, epoch, pools: [POOL], actions: null, limit: BATCH_MAX, leaseMs: 60_000 }
    for (let from = 0; from < tasks; from += BATCH_MAX) {
      await engine.submit(Array.from({ length: Math.min(BATCH_MAX, tasks - from) }, (_, at) => specOf(from + at)))
      const { claimed } = await engine.claim(request)
      await engine.settle(claimed.map((lease) => endOf(lease, groups)))
      if (from % 100_000 === 0 && from > 0) tell(`  ${from} of ${tasks} tasks`)
    }
  } finally {
    await connection.close()
  }
}

function endOf(lease: Claimed, groups: number): Settlement {
  const order = Number(lease.taskId.slice('order-'.length))
  if (order % GOOD_EVERY === 0) return succeeded(lease, null)
  const thrown = Object.assign(new Error(`Order ${order} can not be sent.`), { code: `CAUSE_${order % groups}` })
  const failure = describeFailure(thrown, lease.snapshot.action)
  const { settings } = lease.snapshot
  return failed(lease, failure, decideFailed({ settings, spent: lease, deadlineAt: null, failure, now: 0, roll: 0 }))
}

type Figures = Readonly<Record<string, { readonly p50: number; readonly p99: number }>>

async function measure(address: string, rounds: number): Promise<Figures> {
  const client = await createClient({ engine: address })
  try {
    const { items } = await client.listFailureGroups({ limit: 200 })
    const groupAt = (at: number): string => items[at % items.length]?.fingerprint ?? ''
    const questions: Readonly<Record<string, (at: number) => Promise<unknown>>> = {
      'list, recent': () => client.listFailureGroups({ limit: 100 }),
      'list, largest': () => client.listFailureGroups({ limit: 100, order: 'count' }),
      group: (at) => client.getFailureGroup({ fingerprint: groupAt(at) }),
      cause: (at) => client.explainFailureGroup({ fingerprint: groupAt(at) }),
    }
    const figures: Record<string, { p50: number; p99: number }> = {}
    for (const [name, ask] of Object.entries(questions)) {
      for (let at = 0; at < WARM_UP; at++) await ask(at)
      const times: number[] = []
      for (let at = 0; at < rounds; at++) {
        const before = performance.now()
        await ask(at)
        times.push(performance.now() - before)
      }
      figures[name] = { p50: percentile(times, 50), p99: percentile(times, 99) }
    }
    return figures
  } finally {
    await client.close()
  }
}

function wholeOf(text: string, name: string): number {
  const value = Number(text)
  if (Number.isInteger(value) && value > 0) return value
  throw new TypeError(`--${name} takes a whole number from 1, not '${text}'.`)
}

async function run(): Promise<number> {
  const { values } = parseArgs({
    options: {
      engine: { type: 'string', default: 'sqlite' },
      small: { type: 'string', default: '10000' },
      large: { type: 'string', default: '1000000' },
      rounds: { type: 'string', default: '100' },
      json: { type: 'boolean', default: false },
      help: { type: 'boolean', short: 'h', default: false },
    },
  })
  if (values.help) {
    process.stdout.write(HELP)
    return 0
  }
  if (values.engine !== 'sqlite' && values.engine !== 'redis') throw new TypeError('--engine is sqlite or redis.')
  const engine: EngineName = values.engine
  const sizes = { small: wholeOf(values.small, 'small'), large: wholeOf(values.large, 'large') }
  const rounds = wholeOf(values.rounds, 'rounds')
  await using stores = await openStores(engine, 'fast')
  const of = async (dead: number): Promise<Figures> => {
    let figures: Figures = {}
    await stores.withStore('fast', async (store: Store) => {
      tell(`${dead} dead letters in ${Math.max(1, Math.floor(dead / PER_GROUP))} groups on ${engine}.`)
      await fill(addressOf(store), dead)
      figures = await measure(addressOf(store), rounds)
    })
    return figures
  }
  const [small, large] = [await of(sizes.small), await of(sizes.large)]
  const rows = Object.keys(small).map((question) => {
    const [few, many] = [small[question]?.p99 ?? 0, large[question]?.p99 ?? 0]
    return { question, smallP99Ms: few, largeP99Ms: many, ratio: many / few, target: TARGET }
  })
  const print = (line: string): void => void process.stdout.write(`${line}\n`)
  print(`question        p99 at ${sizes.small}   p99 at ${sizes.large}   ratio (at most ${TARGET})`)
  for (const { question, smallP99Ms, largeP99Ms, ratio } of rows) {
    const verdict = ratio <= TARGET ? 'met' : 'missed'
    print(
      `${question.padEnd(14)}  ${smallP99Ms.toFixed(1)} ms  ${largeP99Ms.toFixed(1)} ms  ${ratio.toFixed(2)}  ${verdict}`,
    )
  }
  if (values.json) print(JSON.stringify({ engine, rounds, rows }))
  return 0
}

process.exitCode = await run().catch((error: unknown) => {
  if (!(error instanceof TypeError)) throw error
  process.stderr.write(`${error.message}\n\n${HELP}`)
  return 2
})
