// What can be asked on the command line, checked once.

import { resolve } from 'node:path'
import { parseArgs } from 'node:util'

const ENGINES = ['sqlite', 'redis'] as const

export type EngineName = (typeof ENGINES)[number]

export interface AttackArguments {
  readonly engine: EngineName
  /** Names of cases or of subjects; all if empty. */
  readonly only: readonly string[]
  /** Of the requests that are drawn at random. */
  readonly seed: number
  readonly json: boolean
  /** A folder for profiles of the attacked servers. */
  readonly profile?: string
  readonly help: boolean
}

/** Something on the command line is wrong; the message says what. */
export class UsageError extends Error {}

/** `subjects` are the names that `--only` knows, with the cases of each. */
export function helpText(subjects: Readonly<Record<string, readonly string[]>>): string {
  const lines = Object.entries(subjects).map(([subject, cases]) => `    ${subject}: ${cases.join(', ')}`)
  return `Attacks a server of its own, on loopback, as a tenant with small rights would.

Usage: npm run attack -- [options]

  --engine sqlite|redis   the store of the server (default: sqlite); redis starts a redis-server of its own
  --only a,b              cases, or whole subjects (default: all)
  --seed N                repeats a run of random requests; each run prints its seed
  --profile folder        write a CPU profile of each server that is attacked there
  --json                  print one JSON object per case, in place of the table
  --help                  this text

The last line is always one JSON object that sums up. The exit code is 1 if an attack succeeded or could not be tried.

Subjects and their cases:
${lines.join('\n')}
`
}

export function parseArguments(
  words: readonly string[],
  subjects: Readonly<Record<string, readonly string[]>>,
  drawnSeed: number,
): AttackArguments {
  const values = parsedWords(words)
  const engine = ENGINES.find((name) => name === (values.engine ?? 'sqlite'))
  if (engine === undefined) throw new UsageError(`--engine knows ${ENGINES.join(', ')}, not '${values.engine}'.`)
  const known = new Set([...Object.keys(subjects), ...Object.values(subjects).flat()])
  const only = (values.only ?? '')
    .split(',')
    .map((name) => name.trim())
    .filter((name) => name !== '')
  const unknown = only.find((name) => !known.has(name))
  if (unknown !== undefined) throw new UsageError(`--only knows no case or subject '${unknown}'.`)
  return {
    engine,
    only,
    seed: values.seed === undefined ? drawnSeed : seedOf(values.seed),
    json: values.json === true,
    ...(values.profile === undefined ? {} : { profile: resolve(values.profile) }),
    help: values.help === true,
  }
}

function parsedWords(words: readonly string[]) {
  try {
    const { values } = parseArgs({
      args: [...words],
      options: {
        engine: { type: 'string' },
        only: { type: 'string' },
        seed: { type: 'string' },
        profile: { type: 'string' },
        json: { type: 'boolean' },
        help: { type: 'boolean' },
      },
    })
    return values
  } catch (error) {
    throw new UsageError(error instanceof Error ? error.message : String(error))
  }
}

const SEED_MAX = 2 ** 31 - 1

function seedOf(text: string): number {
  const seed = /^-?\d+$/.test(text) ? Number(text) : Number.NaN
  if (Number.isInteger(seed) && Math.abs(seed) <= SEED_MAX) return seed
  throw new UsageError(`--seed is a whole number of at most ${SEED_MAX}, not '${text}'.`)
}
