// How much work a run does: the sizes behind the options. The full plan takes a few minutes, the quick one less than one.

import type { BenchArguments, Mode } from './arguments.ts'

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
}

const FULL: Plan = {
  rounds: 3,
  tasks: { fast: 200_000, durable: 50_000 },
  warmupTasks: 5_000,
  backlog: { large: 1_000_000, small: 10_000, processed: 50_000 },
  latencySamples: 300,
  mixedTasks: 50_000,
}

const QUICK: Plan = {
  rounds: 1,
  tasks: { fast: 30_000, durable: 5_000 },
  warmupTasks: 2_000,
  backlog: { large: 100_000, small: 10_000, processed: 20_000 },
  latencySamples: 100,
  mixedTasks: 10_000,
}

export function planOf({ quick, tasks }: Pick<BenchArguments, 'quick' | 'tasks'>): Plan {
  const plan = quick ? QUICK : FULL
  if (tasks === null) return plan
  return {
    ...plan,
    tasks: { fast: tasks, durable: tasks },
    warmupTasks: Math.min(plan.warmupTasks, tasks),
    backlog: { ...plan.backlog, processed: Math.min(plan.backlog.processed, tasks) },
    mixedTasks: Math.min(plan.mixedTasks, tasks),
  }
}
