// Tasks for a storm, straight on the store in large batches: half of them succeed, half die of one of many causes.

import {
  actionName,
  BATCH_MAX,
  type Claimed,
  DEFAULT_SETTINGS,
  decideFailed,
  describeFailure,
  type Engine,
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

const POOL = poolName('default')
const ACTIONS = ['order.confirm', 'invoice.render', 'plugin.call'].map(actionName)
const LEASE_MS = 60_000

/** Every attempt that fails is the last. */
const SETTINGS = { ...DEFAULT_SETTINGS, maxRetries: 0 }

function specOf(name: string, number: number): TaskSpec {
  const id = `${name}-${number}`
  return {
    id: taskId(id),
    action: ACTIONS[number % ACTIONS.length] ?? actionName('order.confirm'),
    pool: POOL,
    tenant: tenantId(`tenant-${number % 20}`),
    payload: encodeJson({ number, region: number % 2 === 0 ? 'eu' : 'us' }, 'payload'),
    labels: { region: number % 2 === 0 ? 'eu' : 'us' },
    priority: 5,
    settings: SETTINGS,
    retryToken: retryToken(id),
    dedupeKey: null,
    deadlineAt: null,
    delayMs: 0,
    dueAt: null,
    deadlineMs: null,
  }
}

export interface Letters {
  /** So many more; `isDead` says which die. */
  add(count: number, isDead: (number: number) => boolean): Promise<void>
}

/** Takes in and ends tasks, as a fleet of workers would. Causes are drawn from a number of them, some more often. */
export async function lettersOn(engine: Engine, name: string, causes: number): Promise<Letters> {
  const worker = workerId(`storm-${name}`)
  const around = { host: 'storm', version: '2', runtimes: [], endpoint: null }
  const { epoch } = await engine.register({ worker, pools: [POOL], actions: null, ...around })
  // A worker whose tasks all fail would get them one by one.
  const regardless = true as const
  const request = { worker, epoch, pools: [POOL], actions: ACTIONS, regardless, limit: BATCH_MAX, leaseMs: LEASE_MS }
  let next = 0
  return {
    add: async (count, isDead) => {
      for (const until = next + count; next < until; ) {
        const size = Math.min(BATCH_MAX, until - next)
        await engine.submit(Array.from({ length: size }, (_, at) => specOf(name, next + at)))
        next += size
        for (let left = size; left > 0; ) {
          const { claimed } = await engine.claim(request)
          if (claimed.length === 0) break
          left -= claimed.length
          await engine.settle(claimed.map((lease) => endOf(lease, causes, isDead)))
        }
      }
    },
  }
}

function endOf(lease: Claimed, causes: number, isDead: (number: number) => boolean): Settlement {
  const number = Number(lease.taskId.slice(lease.taskId.lastIndexOf('-') + 1))
  if (!isDead(number)) return succeeded(lease, null)
  // One in four dies of one of the first ten causes, so that there are large ones.
  const cause = number % 4 === 0 ? number % 10 : number % causes
  const thrown = Object.assign(new Error(`The dependency answered with an error.`), { code: `CAUSE_${cause}` })
  const failure = describeFailure(thrown, lease.snapshot.action)
  const { settings } = lease.snapshot
  return failed(lease, failure, decideFailed({ settings, spent: lease, deadlineAt: null, failure, now: 0, roll: 0 }))
}
