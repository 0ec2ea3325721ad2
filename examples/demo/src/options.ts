// The command line of the demo. Reads and checks it; prints nothing and ends nothing.

import { parseArgs } from 'node:util'
import { durationMs } from '@reprise/core'

export interface DemoOptions {
  readonly tasks: number
  readonly seed: number
  readonly timeLimitMs: number
  /** The address of a store; null for a temporary file. */
  readonly engine: string | null
}

export type CommandLine =
  | { readonly kind: 'run'; readonly options: DemoOptions }
  | { readonly kind: 'help' }
  | { readonly kind: 'wrong'; readonly message: string }

const TASKS_MIN = 20
const TASKS_MAX = 5_000
const SEED_MAX = 4_294_967_295

export const USAGE = `Usage: npm run demo -- [options]

Runs a thousand tasks with two worker processes, on the embedded engine in a temporary file unless told otherwise.
Some tasks fail, some hang, some crash their worker, and one worker is killed on the way. At the end, the sums must
add up.

  --tasks N         how many tasks, from ${TASKS_MIN} to ${TASKS_MAX} (1000)
  --seed N          draw other tasks (1)
  --time-limit T    give up after this long (90s)
  --engine ADDRESS  on another store, such as redis://localhost:6379; what the demo writes there stays there,
                    under a prefix of its own
  --help            show this
`

export function readCommandLine(words: readonly string[]): CommandLine {
  try {
    const { values } = parseArgs({
      args: [...words],
      options: {
        tasks: { type: 'string', default: '1000' },
        seed: { type: 'string', default: '1' },
        'time-limit': { type: 'string', default: '90s' },
        engine: { type: 'string' },
        help: { type: 'boolean', short: 'h', default: false },
      },
    })
    if (values.help) return { kind: 'help' }
    return {
      kind: 'run',
      options: {
        tasks: wholeNumber(values.tasks, '--tasks', TASKS_MIN, TASKS_MAX),
        seed: wholeNumber(values.seed, '--seed', 0, SEED_MAX),
        timeLimitMs: durationMs(values['time-limit'], '--time-limit'),
        engine: values.engine ?? null,
      },
    }
  } catch (error) {
    return { kind: 'wrong', message: error instanceof Error ? error.message : String(error) }
  }
}

function wholeNumber(text: string, what: string, least: number, most: number): number {
  const value = Number(text)
  if (/^\d+$/.test(text) && value >= least && value <= most) return value
  throw new Error(`${what} takes a whole number from ${least} to ${most}, not '${text}'.`)
}
