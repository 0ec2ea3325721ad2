// What can be asked of `npm run bench:http`, checked once.

import { parseArgs } from 'node:util'
import { UsageError } from '../arguments.ts'

export const HELP = `Measures the HTTP API as a share of what a bare Fastify route does in the same run.

Usage: npm run bench:http -- [options]

  --tasks N         tasks that are stored before (default: 1000000)
  --seconds N       how long each load lasts (default: 8)
  --rounds N        rounds in turns, of which the median counts (default: 3)
  --connections N   connections of the load, each with one request under way (default: 64)
  --json            print one JSON object in place of the table
  --help            this text
`

const BOUNDS = { tasks: 10_000_000, seconds: 600, rounds: 100, connections: 1_000 } as const
const DEFAULTS = { tasks: 1_000_000, seconds: 8, rounds: 3, connections: 64 } as const

export type HttpArguments = Readonly<Record<keyof typeof BOUNDS, number>> & {
  readonly json: boolean
  readonly help: boolean
}

export function parseArguments(words: readonly string[]): HttpArguments {
  const values = parsedWords(words)
  const number = (name: keyof typeof BOUNDS): number => {
    const text = values[name]
    if (text === undefined) return DEFAULTS[name]
    const value = /^\d+$/.test(text) ? Number(text) : 0
    if (value >= 1 && value <= BOUNDS[name]) return value
    throw new UsageError(`--${name} is a whole number from 1 to ${BOUNDS[name]}, not '${text}'.`)
  }
  return {
    tasks: number('tasks'),
    seconds: number('seconds'),
    rounds: number('rounds'),
    connections: number('connections'),
    json: values.json === true,
    help: values.help === true,
  }
}

function parsedWords(words: readonly string[]) {
  const text = { type: 'string' } as const
  const flag = { type: 'boolean' } as const
  try {
    const options = { tasks: text, seconds: text, rounds: text, connections: text, json: flag, help: flag }
    return parseArgs({ args: [...words], options, allowPositionals: false }).values
  } catch (error) {
    throw new UsageError(error instanceof Error ? error.message : String(error))
  }
}
