// What can be asked on the command line, checked once. How much work a run does follows from it in plan.ts.

import { parseArgs } from 'node:util'

const ENGINES = ['sqlite', 'redis'] as const
const MODES = ['fast', 'durable'] as const

export type EngineName = (typeof ENGINES)[number]
/** How safe a write is before it counts as done: `durable` syncs every commit to disk, `fast` does not. */
export type Mode = (typeof MODES)[number]
export type Scenario =
  | 'submit'
  | 'process'
  | 'durable'
  | 'mixed'
  | 'memory'
  | 'latency'
  | 'lateness'
  | 'backlog'
  | 'processes'
  | 'redrive'
  | 'job'
  | 'avalanche'
  | 'retention'
  | 'decide'

/** What there is to measure of each engine, in the order in which it is done. */
export const SCENARIOS: Readonly<Record<EngineName, readonly Scenario[]>> = {
  sqlite: [
    'submit',
    'process',
    'durable',
    'mixed',
    'backlog',
    'latency',
    'redrive',
    'decide',
    'job',
    'avalanche',
    'retention',
  ],
  redis: [
    'submit',
    'process',
    'mixed',
    'memory',
    'latency',
    'lateness',
    'backlog',
    'processes',
    'redrive',
    'decide',
    'avalanche',
    'retention',
  ],
}

export interface BenchArguments {
  readonly engine: EngineName
  /** Null: `fast`; and on SQLite the durable comparison beside it. */
  readonly mode: Mode | null
  readonly scenarios: ReadonlySet<Scenario>
  readonly tasks: number | null
  readonly quick: boolean
  readonly peers: boolean
  readonly json: boolean
  readonly help: boolean
}

/** Something on the command line is wrong; the message says what. */
export class UsageError extends Error {}

export const HELP = `Measures Reprise against a peer and against the limit of its store.

Usage: npm run bench -- [options]

  --engine sqlite|redis   the engine to measure (default: sqlite); redis starts a redis-server of its own
  --mode fast|durable     one mode only (default: fast, and on sqlite the process comparison in durable as well)
  --only a,b              scenarios (default: all)
                            sqlite: ${SCENARIOS.sqlite.join(', ')}
                            redis: ${SCENARIOS.redis.join(', ')}
  --tasks N               tasks per round, at most (default: see docs/performance.md)
  --quick                 one small round of everything, in a minute or two; its figures are rough
  --no-peers              measure without the peer; nothing is installed
  --json                  print one JSON object as the last line
  --help                  this text
`

const TASKS_MAX = 10_000_000

export function parseArguments(words: readonly string[]): BenchArguments {
  const values = parsedWords(words)
  const engine = oneOf(ENGINES, values.engine ?? 'sqlite', '--engine')
  return {
    engine,
    mode: values.mode === undefined ? null : oneOf(MODES, values.mode, '--mode'),
    scenarios: scenariosOf(engine, values.only, values.mode === undefined),
    tasks: values.tasks === undefined ? null : taskCount(values.tasks),
    quick: values.quick === true,
    peers: values['no-peers'] !== true,
    json: values.json === true,
    help: values.help === true,
  }
}

function parsedWords(words: readonly string[]) {
  try {
    const { values } = parseArgs({
      args: [...words],
      options: {
        engine: { type: 'string' },
        mode: { type: 'string' },
        only: { type: 'string' },
        tasks: { type: 'string' },
        quick: { type: 'boolean' },
        'no-peers': { type: 'boolean' },
        json: { type: 'boolean' },
        help: { type: 'boolean' },
      },
    })
    return values
  } catch (error) {
    throw new UsageError(error instanceof Error ? error.message : String(error))
  }
}

/** Of a run in one mode, the durable comparison beside the main one is no part. */
function scenariosOf(engine: EngineName, only: string | undefined, bothModes: boolean): ReadonlySet<Scenario> {
  const known = SCENARIOS[engine]
  const scenarios = new Set(
    only === undefined ? known : only.split(',').map((name) => oneOf(known, name.trim(), '--only')),
  )
  if (bothModes) return scenarios
  if (only !== undefined && scenarios.has('durable')) {
    throw new UsageError("--only durable compares in a second mode; with --mode, ask for 'process'.")
  }
  scenarios.delete('durable')
  return scenarios
}

function oneOf<Name extends string>(known: readonly Name[], value: string, option: string): Name {
  const found = known.find((name) => name === value)
  if (found === undefined) throw new UsageError(`${option} knows ${known.join(', ')}, not '${value}'.`)
  return found
}

function taskCount(text: string): number {
  const count = /^[\d_,]+$/.test(text) ? Number(text.replaceAll(/[_,]/g, '')) : Number.NaN
  if (!Number.isInteger(count) || count < 1 || count > TASKS_MAX) {
    throw new UsageError(`--tasks is a whole number from 1 to ${TASKS_MAX}, not '${text}'.`)
  }
  return count
}
