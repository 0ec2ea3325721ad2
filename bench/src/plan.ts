// How much work a run does: the sizes behind the options. In full that takes a few minutes, or ten on Redis, where there
// is more to measure; the quick plan takes a minute or two.

import type { BenchArguments, EngineName, Mode } from './arguments.ts'

export interface Plan {
  /** Each contestant is measured this often, in turns; its figure is the median. */
  readonly rounds: number
  readonly tasks: Readonly<Record<Mode, number>>
  /** Run in the same process before anything is measured, so that the code is compiled. */
  readonly warmupTasks: number
  /** A backlog of this many stands the whole time while `processed` others are worked off. */
  readonly backlog: { readonly large: number; readonly small: number; readonly processed: number }
  readonly latencySamples: number
  readonly mixedTasks: number
  /** So many are finished before the store's memory is looked at. */
  readonly memoryTasks: number
  /** So many tasks come due, one by one, within this time. */
  readonly delayed: { readonly tasks: number; readonly spreadMs: number }
  /** Of so many tasks, one worker process and then two work off what they can for so long. */
  readonly processes: { readonly tasks: number; readonly warmupTasks: number; readonly windowMs: number }
  readonly deadLetters: number
  /** A durable job of so many chunks, while everybody is killed so often. */
  readonly job: { readonly chunks: number; readonly kills: number }
  /** So many delayed tasks come due at once, while so many others are worked off. */
  readonly avalanche: { readonly delayed: number; readonly standing: number; readonly windowMs: number }
  /** Successes are kept so long, and then it is watched for so long. */
  readonly retention: { readonly keepMs: number; readonly windowMs: number }
}

const SQLITE: Plan = {
  rounds: 3,
  tasks: { fast: 200_000, durable: 50_000 },
  warmupTasks: 5_000,
  backlog: { large: 1_000_000, small: 10_000, processed: 50_000 },
  latencySamples: 300,
  mixedTasks: 50_000,
  memoryTasks: 50_000,
  delayed: { tasks: 2_000, spreadMs: 5_000 },
  processes: { tasks: 500_000, warmupTasks: 20_000, windowMs: 2_000 },
  deadLetters: 100_000,
  job: { chunks: 1_000_000, kills: 5 },
  avalanche: { delayed: 1_000_000, standing: 900_000, windowMs: 5_000 },
  retention: { keepMs: 20_000, windowMs: 40_000 },
}

const FULL: Readonly<Record<EngineName, Plan>> = {
  sqlite: SQLITE,
  redis: {
    ...SQLITE,
    latencySamples: 1_000,
    // Redis doubles a hash table when it is full, and pays for that with the commands that follow. What is there at the
    // start is therefore kept just below a power of two, in the large backlog and in the small.
    backlog: { ...SQLITE.backlog, processed: 40_000 },
  },
}

const SQLITE_QUICK: Plan = {
  rounds: 1,
  tasks: { fast: 30_000, durable: 5_000 },
  warmupTasks: 2_000,
  backlog: { large: 100_000, small: 10_000, processed: 20_000 },
  latencySamples: 100,
  mixedTasks: 10_000,
  memoryTasks: 20_000,
  delayed: { tasks: 500, spreadMs: 2_000 },
  processes: { tasks: 200_000, warmupTasks: 10_000, windowMs: 700 },
  deadLetters: 10_000,
  job: { chunks: 50_000, kills: 1 },
  avalanche: { delayed: 100_000, standing: 300_000, windowMs: 2_000 },
  retention: { keepMs: 3_000, windowMs: 6_000 },
}

const QUICK: Readonly<Record<EngineName, Plan>> = {
  sqlite: SQLITE_QUICK,
  redis: { ...SQLITE_QUICK, tasks: { fast: 40_000, durable: 20_000 } },
}

export function planOf({ engine, quick, tasks }: Pick<BenchArguments, 'engine' | 'quick' | 'tasks'>): Plan {
  const plan = (quick ? QUICK : FULL)[engine]
  if (tasks === null) return plan
  const atMost = (count: number): number => Math.min(count, tasks)
  return {
    ...plan,
    tasks: { fast: tasks, durable: tasks },
    warmupTasks: atMost(plan.warmupTasks),
    backlog: { ...plan.backlog, processed: atMost(plan.backlog.processed) },
    latencySamples: atMost(plan.latencySamples),
    mixedTasks: atMost(plan.mixedTasks),
    memoryTasks: atMost(plan.memoryTasks),
    delayed: { ...plan.delayed, tasks: atMost(plan.delayed.tasks) },
    deadLetters: atMost(plan.deadLetters),
    job: { ...plan.job, chunks: atMost(plan.job.chunks) },
    avalanche: { ...plan.avalanche, delayed: atMost(plan.avalanche.delayed) },
  }
}
